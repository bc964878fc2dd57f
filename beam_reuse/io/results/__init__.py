"""Result folders: tables, manifest, and what keeps them whole."""
