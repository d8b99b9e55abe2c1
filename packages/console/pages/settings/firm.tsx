import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SyntheticEvent } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { firmQuery } from '../../api/firm.ts';
import { saving } from '../../api/query-client.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import { mergeLists } from '../../drafts/merge-lists.ts';
import { useFormDraft } from '../../drafts/use-form-draft.ts';
import * as format from '../../i18n/format.ts';
import { useSession } from '../../session/session.ts';
import { Fault } from '../../widgets/fault.tsx';
import { Field } from '../../widgets/field.tsx';
import { LoadingOrFailed } from '../../widgets/states.tsx';
import { done } from '../../widgets/toasts.tsx';
import { settingsTexts } from './texts.ts';

type FirmSettings = Schemas['FirmSettings'];

const LANGUAGES = ['en', 'ru', 'uz', 'ky', 'es'] as const;
const REDACTIONS = ['none', 'for_model', 'stored'] as const;
const FIELDS = ['name', 'language', 'time_zone', 'redaction'] as const;
const LIMITS = ['audio_days', 'transcript_days', 'calls_days'] as const;
const MOST_DAYS = 36_500;

/** The settings of the firm. Only an ADMIN may change them. */
export function Firm() {
  const firm = useQuery({
    ...firmQuery,
    // A refetch must not overwrite what the user is typing.
    staleTime: Infinity,
    refetchOnMount: 'always',
  });
  if (firm.data === undefined) return <LoadingOrFailed query={firm} />;
  return <Form key={JSON.stringify(firm.data)} firm={firm.data} />;
}

function Form({ firm }: { firm: FirmSettings }) {
  const t = settingsTexts.use();
  const shell = shellTexts.use();
  const client = useQueryClient();
  const mayChange = useSession().role === 'ADMIN';
  const draft = useFormDraft('firm');
  const save = useMutation({
    ...saving,
    mutationFn: async ({ types, ...body }: { types: string[] | null }) => {
      // The list is replaced as a whole: what another person has changed of it meanwhile stays.
      const segment_types =
        types === null
          ? null
          : mergeLists(firm.segment_types, types, (await send(api.GET('/api/v1/firm'))).segment_types);
      return send(api.PATCH('/api/v1/firm', { body: { ...body, ...(segment_types !== null && { segment_types }) } }));
    },
    onSuccess: (changed) => {
      draft.discard();
      client.setQueryData(firmQuery.queryKey, changed);
      done(t('firm.saved'));
    },
  });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const types = text('segment_types')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    const changed = (names: readonly string[]) => names.filter((name) => draft.changed.has(name));
    const limits = changed(LIMITS).map((name) => [name, text(name) === '' ? null : Number(text(name))]);
    save.mutate({
      types: draft.changed.has('segment_types') ? types : null,
      // Only what was changed: another person may have changed the rest.
      ...Object.fromEntries(changed(FIELDS).map((name) => [name, text(name)])),
      ...(limits.length > 0 && { retention: Object.fromEntries(limits) }),
    });
  };
  const { used_bytes, quota_bytes } = firm.storage;
  return (
    <form className="settings-part" onSubmit={submit} {...draft.form}>
      <fieldset className="settings-fields" disabled={!mayChange}>
        <div className="card card-body settings-part">
          <h2>{t('firm.general')}</h2>
          <div className="settings-columns">
            <Field label={t('firm.name')}>
              <input className="input" name="name" required maxLength={255} defaultValue={firm.name} />
            </Field>
            <Field label={t('firm.language')}>
              <select className="input" name="language" defaultValue={firm.language}>
                {LANGUAGES.map((language) => (
                  <option key={language} value={language}>
                    {shell(`language.${language}`)}
                  </option>
                ))}
              </select>
            </Field>
            <Field label={t('firm.timeZone')}>
              <select className="input" name="time_zone" defaultValue={firm.time_zone}>
                {[...new Set([firm.time_zone, 'UTC', ...Intl.supportedValuesOf('timeZone')])].map((zone) => (
                  <option key={zone}>{zone}</option>
                ))}
              </select>
            </Field>
          </div>
          <p className="muted">{t('firm.languageText')}</p>
        </div>
        <div className="card card-body settings-part">
          <h2>{t('firm.segmentTypes')}</h2>
          <Field label={t('firm.segmentTypesEach')}>
            <textarea
              className="input"
              name="segment_types"
              rows={Math.min(12, firm.segment_types.length + 2)}
              defaultValue={firm.segment_types.join('\n')}
            />
          </Field>
          <p className="muted">{t('firm.segmentTypesText')}</p>
        </div>
        <div className="card card-body settings-part">
          <h2>{t('firm.privacy')}</h2>
          <Field label={t('firm.redaction')}>
            <select className="input" name="redaction" defaultValue={firm.redaction}>
              {REDACTIONS.map((redaction) => (
                <option key={redaction} value={redaction}>
                  {t(`firm.redaction.${redaction}`)}
                </option>
              ))}
            </select>
          </Field>
          <div className="settings-columns">
            {LIMITS.map((name) => (
              <Field key={name} label={t(`firm.${name}`)}>
                <input
                  className="input"
                  name={name}
                  type="number"
                  min={1}
                  max={MOST_DAYS}
                  step={1}
                  placeholder={t('firm.noLimit')}
                  defaultValue={firm.retention[name] ?? ''}
                />
              </Field>
            ))}
          </div>
          <p className="muted">{t('firm.retentionText')}</p>
        </div>
      </fieldset>
      <div className="card card-body settings-part">
        <h2>{t('firm.storage')}</h2>
        <p>
          {quota_bytes === null
            ? t('firm.used', { used: format.bytes(used_bytes) })
            : t('firm.usedOf', { used: format.bytes(used_bytes), quota: format.bytes(quota_bytes) })}
        </p>
        {quota_bytes !== null && <progress aria-label={t('firm.storage')} max={quota_bytes} value={used_bytes} />}
      </div>
      {save.isError && <Fault error={save.error} />}
      {mayChange ? (
        <div className="settings-row">
          <button type="submit" className="button button-primary" disabled={save.isPending || !draft.isChanged}>
            {shell('save')}
          </button>
        </div>
      ) : (
        <p className="muted">{t('firm.readOnly')}</p>
      )}
    </form>
  );
}
