// Written by build.py: SHA-1 of the passages that any site may have, with blanks between them.
export const GENERIC: string;
