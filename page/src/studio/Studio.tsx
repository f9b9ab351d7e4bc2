// The attack studio of simulated sites: choose what, where and when; watch it being found; the score card.
import { useState } from "preact/hooks";
import type { Case, Injection, Injections } from "../api/types";
import { useResource } from "../store/resource";
import { useMinute } from "../store/minute";
import { about, changes } from "../store/site";
import { Part } from "../ui/Part";
import { NextAttack } from "./NextAttack";
import { ScoreCard } from "./ScoreCard";
import { Watch } from "./Watch";

export function Studio() {
  const site = about.value!, minute = useMinute();
  const path = `/sites/${encodeURIComponent(site.name)}`;
  const cases = useResource<{ items: Case[] }>(site.is_simulated ? `${path}/cases` : null);
  const injections = useResource<Injections>(site.is_simulated ? `${path}/injections` : null, `${minute} ${changes.value}`);
  const [shown, setShown] = useState<string | null>(null);
  if (!site.is_simulated) return <p>The studio exists for simulated sites only. Nothing is ever written to a plant.</p>;
  const all = injections.value?.items ?? [];
  const current: Injection | undefined = all.find((item) => item.id === shown) ?? [...all].sort((a, b) => (a.start < b.start ? 1 : -1)).find((item) => item.state !== "planned") ?? all[0];
  return (
    <>
      <h1 class="hidden-text">Studio of {site.name}</h1>
      <div class="studio">
        <Part of={cases} what="list of cases">{(value) => <NextAttack cases={value.items} running={all} onInjected={(id) => {
          setShown(id);
          injections.again();
        }} />}</Part>
        <Watch injection={current ?? null} minute={minute} onStopped={injections.again} />
        <Part of={injections} what="score card">{(value) => <ScoreCard value={value} shown={current?.id ?? null} choose={setShown} />}</Part>
      </div>
    </>
  );
}
