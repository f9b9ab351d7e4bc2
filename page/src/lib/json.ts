// Answers of the server. Marks that change the direction of reading come from names and comments of others: they would
// turn round what stands beside them.
const MARKS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const WRITTEN = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|\\u(061c|20[026])/i;

/** Return what a text in JSON holds, marks of direction replaced. */
export const readJson = (text: string): unknown =>
  JSON.parse(text, WRITTEN.test(text) ? (_, value: unknown) => (typeof value === "string" ? value.replace(MARKS, "\ufffd") : value) : undefined);
