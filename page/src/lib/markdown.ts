// The little Markdown that model cards use, as blocks of plain text: nothing in a card can become markup.
export type Block =
  | { kind: "heading"; text: string } | { kind: "text"; text: string } | { kind: "list"; items: string[] } | { kind: "table"; head: string[]; rows: string[][] };

const plain = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "").trim();
const cells = (line: string): string[] => line.replace(/^\||\|$/g, "").split("|").map(plain);

export function blocks(text: string): Block[] {
  const found: Block[] = [];
  let isOpen = false;
  for (const line of text.split("\n")) {
    const last = found.at(-1);
    if (!line.trim()) {
      isOpen = false;
    } else if (line.startsWith("#")) {
      found.push({ kind: "heading", text: plain(line.replace(/^#+/, "")) });
      isOpen = false;
    } else if (line.startsWith("|")) {
      if (/^[|\s:-]+$/.test(line)) continue;
      if (isOpen && last?.kind === "table") last.rows.push(cells(line));
      else found.push({ kind: "table", head: cells(line), rows: [] });
      isOpen = true;
    } else if (/^[-*] /.test(line)) {
      if (isOpen && last?.kind === "list") last.items.push(plain(line.slice(2)));
      else found.push({ kind: "list", items: [plain(line.slice(2))] });
      isOpen = true;
    } else if (isOpen && last?.kind === "list") last.items[last.items.length - 1] += ` ${plain(line)}`;
    else if (isOpen && last?.kind === "text") last.text += ` ${plain(line)}`;
    else {
      found.push({ kind: "text", text: plain(line) });
      isOpen = true;
    }
  }
  return found;
}
