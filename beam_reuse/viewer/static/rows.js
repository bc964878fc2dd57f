// What a row of each table is, in a few words.
export const ROWS = {
  boilerplate: "a line of a host's template, with how many of its pages have it", boilerplate_pages: "a page, with how many of its lines and words are its host's template",
  contamination: "an evaluation item and a page that has its words", contaminated_items: "an evaluation item that is in the corpus", contaminated_pages: "a page that has evaluation items",
  crawl_savings: "a host, with how many of its pages and bytes a crawler need not fetch", depth_histogram: "a depth of directories, with how many records are that deep",
  exact_copies: "a page in a set of pages with the same lines", families: "a page in a family of pages on different domains", frequency_histogram: "a number of occurrences, with how many files or chunks occur that often",
  frequent_chunks: "a passage that occurs often, with where", frequent_files: "a file that occurs often, with where", identity_sets: "a page in a set of pages with the same words", keep: "a page, whether to keep it, and the page that stays in its place",
  labels: "a hash that was looked for, with its source", matched_chunks: "a known passage at its place in a page", matched_files: "a page that is a known file", near_duplicate_clusters: "a page in a cluster of near-duplicates",
  near_duplicate_degrees: "a number of near-duplicates, with how many pages have that many", near_duplicates: "a pair of pages that are nearly the same", neighbourhood_sources: "a directory and a domain whose content it has",
  neighbourhoods: "a directory, with how much of it is known content", origins: "a set of copies, with the likely original and the evidence", page_overlap: "a pair of pages that share lines",
  page_reuse: "a page, with how much of it is known content", pages: "a page, with where it is in the crawl", popular_collections: "a directory whose pages are on several hosts", quilt_sources: "a quilt and one of its sources, with the patches",
  nilsimsa_sweep: "a threshold of similarity, with how much it would match", pages_without_labels: "a page of which no label was made, with the reason", recrawled: "a page that the baseline has, too, and whether it has changed",
  quilts: "a page that is stitched from others", rejects: "a record that could not be read, with the reason", removed: "a page or lines that were left out of a clean corpus", replicas: "a number of copies, with how many pages have that many",
  server_overlap: "a pair of hosts that share content", site_pairs: "a pair of sites, with how many near-duplicates they have", skippable: "a page that a crawler need not fetch, and the page that has its content", skipped: "a document that is not a page, with the reason",
};
