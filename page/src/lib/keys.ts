// Single-key commands. They are off in fields and with modifiers, and can be switched off (WCAG 2.1.4).
export type Handler = () => void;

const PREFIX = "g";
const PREFIX_MS = 1500;

export interface Press { key: string; ctrl: boolean; alt: boolean; meta: boolean; inField: boolean; time: number }

/** Turns presses into names of commands: `j`, `?`, or `g o` after a prefix. */
export class Keys {
  private prefixAt = -Infinity;

  /** Return the command of a press, or null if it has none. */
  take(press: Press): string | null {
    if (press.ctrl || press.alt || press.meta || press.inField) return null;
    const isSecond = press.time - this.prefixAt <= PREFIX_MS;
    this.prefixAt = -Infinity;
    if (isSecond) return `${PREFIX} ${press.key}`;
    if (press.key === PREFIX) {
      this.prefixAt = press.time;
      return null;
    }
    return press.key;
  }
}

/** Return whether letters typed into an element are text. */
export function isField(element: { tagName: string; type?: string; isContentEditable?: boolean } | null): boolean {
  if (!element) return false;
  const tag = element.tagName.toLowerCase();
  if (tag === "textarea" || tag === "select" || element.isContentEditable) return true;
  return tag === "input" && !["checkbox", "radio", "button", "submit"].includes(element.type ?? "text");
}
