// The mapping check: what every point sends, and what is wrong with it.
import { useState } from "preact/hooks";
import type { Points } from "../api/types";
import { count, duration, formatNumber, percent, shownUnit } from "../lib/format";
import { temperature } from "../store/preferences";
import { useResource } from "../store/resource";
import { useMinute } from "../store/minute";
import { about, nodeOf, zoneTitle } from "../store/site";
import { partsOf } from "../lib/places";
import { Part } from "../ui/Part";

const MOST = 400;

export function Mapping() {
  const site = about.value!, minute = useMinute();
  const points = useResource<Points>(`/sites/${encodeURIComponent(site.name)}/points`, minute);
  const [onlyWrong, setOnlyWrong] = useState(false);
  const [words, setWords] = useState("");
  return (
    <Part of={points} what="mapping">
      {(value) => {
        const wrong = value.items.filter((item) => item.note).length;
        const shown = value.items.filter((item) => (!onlyWrong || item.note) && `${item.point} ${item.name}`.toLowerCase().includes(words.toLowerCase()));
        const rejected = Object.entries(value.rejected).filter(([, n]) => n);
        return (
          <>
            <div class="zone-head"><h1>Mapping</h1><span class="dim">{count(value.items.length)} points, {wrong ? `${count(wrong)} need a look` : "none needs a look"}</span></div>
            <div class="filters">
              <button class="chip" aria-pressed={!onlyWrong} onClick={() => setOnlyWrong(false)}>All {count(value.items.length)}</button>
              <button class="chip" aria-pressed={onlyWrong} onClick={() => setOnlyWrong(true)}>With a note {count(wrong)}</button>
              <label class="search"><span class="hidden-text">Search points</span><input type="search" placeholder="Search points" value={words} onInput={(event) => setWords(event.currentTarget.value)} /></label>
            </div>
            {rejected.length > 0 && <p class="said-state card">Readings rejected since the start: {rejected.map(([why, n]) => `${count(n)} ${why}`).join(", ")}.</p>}
            <section class="card" aria-label="Points">
              <table>
                <thead><tr><th>point</th><th>what it is</th><th class="right">value</th><th class="right">last 24 h</th><th class="right">instrument</th><th class="right">fresh</th><th class="right">age</th><th>note</th></tr></thead>
                <tbody>
                  {shown.slice(0, MOST).map((item) => {
                    const [place, role] = partsOf(item.point, site), node = nodeOf.value.get(role), choice = temperature.value;
                    const number = (one: number | null) => formatNumber(one, item.unit, node?.decimals ?? 1, choice, node?.states, node?.low ?? 0);
                    return (
                      <tr key={item.point}>
                        <td class="mono">{item.point}</td><td>{place ? `${zoneTitle(place)} · ` : ""}{item.name}</td>
                        <td class="right">{number(item.value)} <span class="small dim">{node?.states.length ? "" : shownUnit(item.unit, choice)}</span></td>
                        <td class="right dim">{item.least === null ? "–" : `${number(item.least)} – ${number(item.most)}`}</td><td class="right dim">{number(item.low)} – {number(item.high)}</td>
                        <td class="right">{item.share_fresh === null ? "–" : percent(item.share_fresh)}</td><td class="right">{item.age_s === null ? "never" : duration(item.age_s * 1000)}</td>
                        <td class={item.note ? "strong" : "dim"}>{item.note || "as expected"}</td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
              {shown.length > MOST && <p class="body dim">{count(shown.length - MOST)} more; search narrows them.</p>}
            </section>
          </>
        );
      }}
    </Part>
  );
}
