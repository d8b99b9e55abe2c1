import type { ApiError } from '@call-analysis/client/errors';
import { type ComponentProps, useState } from 'react';
import { saveFile } from '../../api/client.ts';
import { faultText } from '../../i18n/faults/texts.ts';
import * as format from '../../i18n/format.ts';
import { DAY_MS } from '../../i18n/zone/days.ts';
import { currentSession } from '../../session/session.ts';
import { storedJson } from '../../store.ts';
import { useAction } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { fieldFaults } from '../../widgets/page.tsx';
import { uploadTexts } from '../texts.ts';

/** The files that were refused earlier in this browser, with their rows as long as the service keeps them. */
export function Refusals({ shown }: { shown: readonly string[] }) {
  const t = uploadTexts.use();
  const [kept, setKept] = useState(keptRefusals);
  const others = kept.filter(({ id }) => !shown.includes(id));
  if (others.length === 0) return null;
  return (
    <section className="upload-list" aria-label={t('refusals')}>
      <h2>{t('refusals')}</h2>
      <p className="muted">{t('refusals.text')}</p>
      {others.map(({ id, name, at, invalid, rows, url, fault }) => (
        <article key={id} className="card card-body upload-card">
          <div className="upload-card-head">
            <h3 className="foreign">{name}</h3>
            <span className="muted">
              {format.dateTime(new Date(at))} ·{' '}
              {fault === undefined
                ? t('refused', { n: invalid, invalid: format.number(invalid), rows: format.number(rows) })
                : wholeFault(fault)}
            </span>
            <span className="upload-card-actions">
              <RefusedRows url={url} isSmall />
              <Button
                icon="close"
                kind="quiet"
                isSmall
                label={t('hide', { name })}
                onClick={() => setKept(forgetRefusal(id))}
              />
            </span>
          </div>
        </article>
      ))}
    </section>
  );
}

function wholeFault({ code, message, details = null }: NonNullable<Refusal['fault']>): string {
  return [faultText(code, message, details), ...fieldFaults(code, details)].join(' ');
}

/** Downloads the rows that were refused, where there are any. */
export function RefusedRows({
  url,
  ...button
}: Pick<ComponentProps<typeof Button>, 'kind' | 'isSmall'> & { url: string | null }) {
  const t = uploadTexts.use();
  const save = useAction((of: string) => saveFile(of, t('rejectedName')));
  if (url === null) return null;
  return (
    <Button icon="download" {...button} onClick={() => save.mutate(url)}>
      {t('rejected')}
    </Button>
  );
}

export interface Refusal {
  readonly id: string;
  readonly name: string;
  /** Unix milliseconds. */
  readonly at: number;
  readonly rows: number;
  readonly invalid: number;
  /** Of its refused rows. */
  readonly url: string | null;
  /** Of the file as a whole. */
  readonly fault?: Pick<ApiError, 'code' | 'message'> & Partial<Pick<ApiError, 'details'>>;
}

const MOST = 20;
/** As long as the service keeps the refused rows. */
const KEPT_MS = 7 * DAY_MS;

const storageKey = () => `console.refused.${currentSession()?.userUuid ?? ''}`;

/** Those of the person in this browser, newest first. The service remembers only what it has accepted. */
export function keptRefusals(): readonly Refusal[] {
  const stored = (storedJson(localStorage, storageKey()) ?? []) as Refusal[];
  return stored.filter(({ at }) => Date.now() - at < KEPT_MS);
}

export function keepRefusal(refusal: Refusal): void {
  store([refusal, ...keptRefusals().filter(({ id }) => id !== refusal.id)].slice(0, MOST));
}

/** Returns those that stay. */
export function forgetRefusal(id: string): readonly Refusal[] {
  return store(keptRefusals().filter((each) => each.id !== id));
}

function store(refusals: readonly Refusal[]): readonly Refusal[] {
  localStorage.setItem(storageKey(), JSON.stringify(refusals));
  return refusals;
}
