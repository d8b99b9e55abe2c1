import { useState } from 'react';
import { saveFile } from '../../api/save-file.ts';
import * as format from '../../i18n/format.ts';
import { Icon } from '../../widgets/icon.tsx';
import { failed } from '../../widgets/toasts.tsx';
import { forgetRefusal, keptRefusals } from './refused.ts';
import { uploadTexts } from './texts.ts';

/** The files that were refused earlier in this browser, with their rows as long as the service keeps them. */
export function Refusals({ shown }: { shown: readonly string[] }) {
  const t = uploadTexts.use();
  const [kept, setKept] = useState(keptRefusals);
  const others = kept.filter(({ id }) => !shown.includes(id));
  if (others.length === 0) return null;
  return (
    <section className="upload-batches" aria-label={t('refusals')}>
      <h2>{t('refusals')}</h2>
      {others.map(({ id, name, at, invalid, rows, url }) => (
        <article key={id} className="card card-body upload-card">
          <div className="upload-card-head">
            <h3 className="foreign">{name}</h3>
            <span className="muted">
              {format.dateTime(new Date(at))} ·{' '}
              {t('refused', { n: invalid, invalid: format.number(invalid), rows: format.number(rows) })}
            </span>
            <span className="upload-card-actions">
              {url !== null && (
                <button
                  type="button"
                  className="button button-small"
                  onClick={() => void saveFile(url, t('rejectedName')).catch(failed)}
                >
                  <Icon name="download" />
                  {t('rejected')}
                </button>
              )}
              <button
                type="button"
                className="button button-quiet button-icon button-small"
                aria-label={t('hide', { name })}
                onClick={() => setKept(forgetRefusal(id))}
              >
                <Icon name="close" />
              </button>
            </span>
          </div>
        </article>
      ))}
    </section>
  );
}
