import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, type Schemas, send, firmQuery } from '../../api/client.ts';
import { type Fields, useForm } from '../../drafts/form.tsx';
import { mergeLists } from '../../drafts/merge-lists.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useSession } from '../../session/session.ts';
import { done } from '../../widgets/actions.tsx';
import { Button, SelectField, TextArea, TextField } from '../../widgets/controls.tsx';
import { Card, LoadingOrFailed } from '../../widgets/page.tsx';
import { settingsTexts } from '../texts.ts';

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
  // What is stored changes while the person types, and is no field of the form.
  return <Form key={JSON.stringify({ ...firm.data, storage: null })} firm={firm.data} />;
}

function Form({ firm }: { firm: FirmSettings }) {
  const t = settingsTexts.use();
  const shell = shellTexts.use();
  const client = useQueryClient();
  const mayChange = useSession().role === 'ADMIN';
  const save = async ({ text, lines, isChanged, changed }: Fields) => {
    // The list is replaced as a whole: what another person has changed of it meanwhile stays.
    const segmentTypes = async () =>
      mergeLists(firm.segment_types, lines('segment_types'), (await send(api.GET('/api/v1/firm'))).segment_types);
    const limits = LIMITS.filter(isChanged).map((name) => [name, text(name) === '' ? null : Number(text(name))]);
    const body = {
      // Only what was changed: another person may have changed the rest.
      ...(changed(FIELDS) as Partial<Pick<FirmSettings, (typeof FIELDS)[number]>>),
      ...(limits.length > 0 && { retention: Object.fromEntries(limits) as Partial<FirmSettings['retention']> }),
      ...(isChanged('segment_types') && { segment_types: await segmentTypes() }),
    };
    return send(api.PATCH('/api/v1/firm', { body }));
  };
  const { form, isChanged, isSaving, fault } = useForm({
    draft: 'firm',
    save,
    onSaved: (changed) => {
      client.setQueryData(firmQuery.queryKey, changed);
      done(t('firm.saved'));
    },
  });
  const { used_bytes, quota_bytes } = firm.storage;
  return (
    <form className="stack" {...form}>
      <fieldset className="group" disabled={!mayChange}>
        <Card title={t('firm.general')}>
          <div className="columns">
            <TextField label={t('firm.name')} name="name" required maxLength={255} defaultValue={firm.name} />
            <SelectField
              label={shell('language')}
              name="language"
              options={LANGUAGES}
              nameOf={(language) => shell(`language.${language}`)}
              defaultValue={firm.language}
            />
            <SelectField
              label={shell('zone')}
              name="time_zone"
              options={[...new Set([firm.time_zone, 'UTC', ...Intl.supportedValuesOf('timeZone')])]}
              defaultValue={firm.time_zone}
            />
          </div>
          <p className="muted">{t('firm.languageText')}</p>
        </Card>
        <Card title={t('firm.segmentTypes')}>
          <TextArea
            label={t('firm.segmentTypesEach')}
            name="segment_types"
            rows={Math.min(12, firm.segment_types.length + 2)}
            defaultValue={firm.segment_types.join('\n')}
          />
          <p className="muted">{t('firm.segmentTypesText')}</p>
        </Card>
        <Card title={t('firm.privacy')}>
          <SelectField
            label={t('firm.redaction')}
            name="redaction"
            options={REDACTIONS}
            nameOf={(each) => t(`firm.redaction.${each}`)}
            defaultValue={firm.redaction}
          />
          <div className="columns">
            {LIMITS.map((name) => (
              <TextField
                key={name}
                label={t(`firm.${name}`)}
                name={name}
                type="number"
                min={1}
                max={MOST_DAYS}
                step={1}
                placeholder={t('firm.noLimit')}
                defaultValue={firm.retention[name] ?? ''}
              />
            ))}
          </div>
          <p className="muted">{t('firm.retentionText')}</p>
        </Card>
      </fieldset>
      <Card title={t('firm.storage')}>
        <p>
          {quota_bytes === null
            ? t('firm.used', { used: format.bytes(used_bytes) })
            : t('firm.usedOf', { used: format.bytes(used_bytes), quota: format.bytes(quota_bytes) })}
        </p>
        {quota_bytes !== null && <progress aria-label={t('firm.storage')} max={quota_bytes} value={used_bytes} />}
      </Card>
      {fault}
      {mayChange ? (
        <div className="row">
          <Button kind="primary" isSubmit disabled={isSaving || !isChanged}>
            {shell('save')}
          </Button>
        </div>
      ) : (
        <p className="muted">{t('firm.readOnly')}</p>
      )}
    </form>
  );
}
