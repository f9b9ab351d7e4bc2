// A part of a screen that may be slow or fail while the rest works.
import type { ComponentChildren } from "preact";
import type { Resource } from "../store/resource";
import { clockSeconds } from "../lib/format";
import { Icon } from "./Icon";

export function Part<T>({ of, what, children }: { of: Resource<T>; what: string; children: (value: T) => ComponentChildren }) {
  if (of.value !== null) return <>{children(of.value)}</>;
  if (of.problem)
    return (
      <div class="failed-part" role="status">
        <p class="row strong"><Icon name="warning" /> This {what} could not be read.</p>
        <p class="dim">{of.problem.message} Scoring and alarms go on.</p>
        <p><button class="link" onClick={of.again}>Try again</button> <span class="faint">code {of.problem.code}, {clockSeconds(of.problem.at)}</span></p>
      </div>
    );
  return <p class="faint" role="status">{of.isLate ? "Still reading. Scoring goes on without this page." : "Reading the journal..."}</p>;
}
