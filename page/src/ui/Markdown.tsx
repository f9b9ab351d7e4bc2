// A model card's text.
import { blocks } from "../lib/markdown";

export function Markdown({ text }: { text: string }) {
  return (
    <>
      {blocks(text).map((block, place) => {
        if (block.kind === "heading") return <h3 key={place}>{block.text}</h3>;
        if (block.kind === "text") return <p key={place}>{block.text}</p>;
        if (block.kind === "list") return <ul key={place}>{block.items.map((item) => <li key={item}>{item}</li>)}</ul>;
        return (
          <table key={place}>
            <thead><tr>{block.head.map((cell, column) => <th key={column}>{cell}</th>)}</tr></thead>
            <tbody>{block.rows.map((row, number) => <tr key={number}>{row.map((cell, column) => <td key={column}>{cell}</td>)}</tr>)}</tbody>
          </table>
        );
      })}
    </>
  );
}
