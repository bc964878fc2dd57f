/** Rules of the public suffix list in ASCII, one per line; the build writes the module. */
export const RULES: string;
