// Choices of the person, kept in this browser.
import { signal, effect, type Signal } from "@preact/signals";
import type { Temperature } from "../lib/format";

export type Theme = "system" | "light" | "dark";
export type Layout = "tiles" | "matrix" | "strip";

function kept<T>(name: string, first: T): Signal<T> {
  let value = first;
  try {
    const stored = localStorage.getItem(`graphghha.${name}`);
    if (stored !== null) value = JSON.parse(stored) as T;
  } catch {
    // Storage may be closed, or hold what another version wrote: the default serves.
  }
  const choice = signal(value);
  effect(() => {
    try {
      localStorage.setItem(`graphghha.${name}`, JSON.stringify(choice.value));
    } catch {
      // The choice then lasts as long as the page.
    }
  });
  return choice;
}

export const theme = kept<Theme>("theme", "system");
export const temperature = kept<Temperature>("temperature", "degC");
export const lettersAreKeys = kept<boolean>("letters", true);
export const layouts = kept<Record<string, Layout>>("layouts", {});

/** Counts changes of the theme in force, so that canvases can draw themselves anew. */
export const themeTurns = signal(0);

export function followTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const isDark = theme.value === "dark" || (theme.value === "system" && system.matches);
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    themeTurns.value = themeTurns.peek() + 1;
  };
  system.addEventListener("change", apply);
  effect(() => {
    void theme.value;
    apply();
  });
}
