// The record of a commissioning: which days, what they asked for, and what people should have checked.
import type { Commissioned, Standing } from "../api/types";
import { percent } from "../lib/format";

export function CommissioningRecord({ record }: { record: Commissioned }) {
  const [low, high] = record.expected_false_per_day;
  const reporting = Object.entries(record.reporting);
  return (
    <section class="card" aria-label="Commissioned on this site">
      <header><h2>Commissioned on this site</h2></header>
      <dl class="body about-node">
        <dt>days</dt><dd>{record.days}, {record.first.slice(0, 10)} to {record.last.slice(0, 10)}; {record.zones.length} zones</dd>
        <dt>threshold</dt><dd>{record.threshold.toFixed(2)} log-odds of a zone; its own days asked for {record.own_threshold.toFixed(2)}</dd>
        <dt>false alarms of such buildings</dt><dd>{low.toFixed(2)} to {high.toFixed(2)} a day after commissioning</dd>
        <dt>standing faults</dt><dd><Zones rows={record.standing} /></dd>
        <dt>left out</dt><dd><Zones rows={record.left_out} /></dd>
        <dt>never heard</dt><dd>{record.missing_points.join(", ") || "none"}</dd>
        {reporting.length > 0 && <><dt>reporting</dt><dd><ul>{reporting.map(([signal, how]) => <li key={signal}>{signal}: {how}</li>)}</ul></dd></>}
      </dl>
    </section>
  );
}

function Zones({ rows }: { rows: Standing[] }) {
  if (!rows.length) return <>none</>;
  return <ul>{rows.map((row) => <li key={`${row.zone}/${row.node}`}>{row.zone}, {row.node}: abnormal {percent(row.share_of_time)} of the time</li>)}</ul>;
}
