import type { Schemas } from '../api/client.ts';
import * as format from '../i18n/format.ts';
import { shellTexts } from '../i18n/texts.ts';

type Status = Schemas['Call']['status'];

const CLASSES: Readonly<Record<Status, string>> = {
  queued: 'badge',
  transcribing: 'badge badge-accent',
  analyzing: 'badge badge-accent',
  // What nearly every call is tells none apart.
  completed: 'status-completed muted',
  failed: 'badge badge-bad',
  canceled: 'badge',
};

export function StatusBadge({ status }: { status: Status }) {
  const t = shellTexts.use();
  return <span className={CLASSES[status]}>{t(`status.${status}`)}</span>;
}

/** From this score a call is good, and from the next it is acceptable. */
const GOOD = 80;
const FAIR = 60;

export function scoreTone(score: number): 'good' | 'warn' | 'bad' {
  if (score >= GOOD) return 'good';
  return score >= FAIR ? 'warn' : 'bad';
}

/** A score with its colour, and a dash where there is none. */
export function Score({ value }: { value: number | null }) {
  if (value === null) return <span className="muted">–</span>;
  return <span className={`score score-${scoreTone(value)} number`}>{format.score(value)}</span>;
}
