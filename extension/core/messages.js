// What the content script and the worker say to each other.

/**
 * @typedef {object} Notice what a person is told of a flagged page
 * @property {string} domain of the page
 * @property {string} owner whose content it is
 * @property {string} url of the page
 * @property {boolean} framed whether it is a frame of the page that is shown
 * @property {boolean} waits whether typing is switched off
 * @property {{text: string, page: string}[]} passages the first of them
 * @property {number} count of all passages
 *
 * @typedef {object} End after the last chunks of a page
 * @property {string} url of the document, where the browser does not give one (about:, data:)
 * @property {boolean} password whether there is a password field
 * @property {boolean} used whether somebody has used it
 * @property {boolean} trusted whether somebody wants the page to be learnt
 *
 * @typedef {object} Reply to the end
 * @property {boolean} learnt
 * @property {boolean} login
 * @property {string} domain
 * @property {boolean} never whether nothing is looked at on this domain
 * @property {Notice | null} notice
 *
 * @typedef {"leave" | "fine" | "never"} Choice
 *
 * @typedef {{kind: "show" | "hold" | "release", notice: Notice} |
 *   {kind: "state" | "trust" | "held"}} ToPage
 * @typedef {{kind: "decide", choice: Choice, notice: Notice} |
 *   {kind: "replace", notice: Notice}} ToWorker
 *
 * @typedef {object} State of a document
 * @property {string} url
 * @property {Reply | null} reply
 * @property {number} readings how often the document was read
 * @property {import("../content/reading.js").Taken} taken by the last one
 */

/** The name of connections over which a page is read. */
export const READ = "read";
export const SHOWN_PASSAGES = 20;
export const SHOWN_LETTERS = 300;
