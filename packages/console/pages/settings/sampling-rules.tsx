import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, samplingRulesQuery, type Schemas, send, firmQuery } from '../../api/client.ts';
import { type Fields, FormDialog } from '../../drafts/form.tsx';
import * as format from '../../i18n/format.ts';
import { useAction, useAskedAction } from '../../widgets/actions.tsx';
import { Check, SelectField, TextField } from '../../widgets/controls.tsx';
import { LoadingOrFailed, State } from '../../widgets/page.tsx';
import { callSearch, type FilterKey, FILTERS } from '../calls/call-search.ts';
import { optionName, filterName } from '../calls/filters/filters.ts';
import { settingsTexts } from '../texts.ts';
import { Item, Part, Actions } from './parts.tsx';

type Rule = Schemas['SamplingRule'];

const RULES = ['sampling-rules'] as const;
const path = ({ uuid }: Rule) => ({ params: { path: { uuid } } });

/** Which calls are chosen by chance for a review. */
export function SamplingRules() {
  const t = settingsTexts.use();
  const [form, setForm] = useState<'new' | Rule | null>(null);
  const rules = useQuery(samplingRulesQuery);
  const toggle = useAction(
    (rule: Rule) =>
      send(api.PATCH('/api/v1/sampling-rules/{uuid}', { ...path(rule), body: { enabled: !rule.enabled } })),
    { changes: [RULES] },
  );
  const remove = useAskedAction(
    () => ({ title: t('rules.deleteTitle'), text: t('rules.deleteText'), action: t('hooks.delete') }),
    (rule: Rule) => send(api.DELETE('/api/v1/sampling-rules/{uuid}', path(rule))),
    { changes: [RULES], says: t('rules.deleted') },
  );
  return (
    <Part about={t('rules.about')} create={t('rules.create')} onCreate={() => setForm('new')}>
      <LoadingOrFailed query={rules} />
      {rules.data?.count === 0 && <State title={t('rules.none')} text={t('rules.noneText')} />}
      {rules.data?.items.map((rule) => (
        <Item
          key={rule.uuid}
          name={rule.name}
          isEnabled={rule.enabled}
          facts={[
            `${t('rules.amount')}: ${rule.share === null ? format.number(rule.count ?? 0) : format.percent(rule.share)}`,
            `${t('rules.per')}: ${t(`rules.per.${rule.per}`)}`,
            `${t('rules.every')}: ${t(`rules.every.${rule.every}`)}`,
            ...Object.entries(rule.filter).map(([name, value]) => inWords(name, [value].flat().map(String))),
          ]}
        >
          <Actions
            of={[
              {
                name: t(rule.enabled ? 'hooks.disable' : 'hooks.enable'),
                act: () => toggle.mutate(rule),
                isPending: toggle.isPending,
              },
              { name: t('hooks.change'), act: () => setForm(rule) },
              { name: t('hooks.delete'), act: () => remove(rule), isDanger: true },
            ]}
          />
        </Item>
      ))}
      {form !== null && <SamplingRuleForm rule={form === 'new' ? null : form} onClose={() => setForm(null)} />}
    </Part>
  );
}

/** A filter as the form and the calls page name it. */
function inWords(name: string, values: readonly string[]): string {
  const t = settingsTexts.translate;
  if (name === 'auto_fail_suspected' && values[0] === 'true') return t('rules.suspected');
  if (name === 'score_max') return `${t('rules.scoreMax')}: ${values.join()}`;
  const isKnown = (key: string): key is FilterKey => Object.hasOwn(FILTERS, key);
  if (!isKnown(name)) return `${name}: ${values.join(', ')}`;
  return `${filterName(name)}: ${values.map((value) => optionName(name, value)).join(', ')}`;
}

type NewRule = Schemas['CreateSamplingRuleRequest'];

const UNITS = ['calls', 'percent'] as const;
const PER: readonly Rule['per'][] = ['operator', 'operator_group_name', 'segment_type', 'firm'];
const EVERY: readonly Rule['every'][] = ['week', 'day'];

function SamplingRuleForm({ rule, onClose }: { rule: Rule | null; onClose: () => void }) {
  const t = settingsTexts.use();
  const firm = useQuery(firmQuery);
  const { segment_type = [], score_max, auto_fail_suspected } = callSearch(rule?.filter ?? {});
  const types = [...new Set(['', ...segment_type, ...(firm.data?.segment_types ?? [])])];
  const save = async ({ text, all, isChanged, changed }: Fields) => {
    const amount = Number(text('amount'));
    const size = text('unit') === 'calls' ? { count: amount } : { share: amount / 100 };
    const filter = {
      // What the form does not have stays.
      ...rule?.filter,
      segment_type: text('segment_type') === '' ? undefined : [text('segment_type')],
      score_max: text('score_max') || undefined,
      auto_fail_suspected: all('suspected').length > 0 ? 'true' : undefined,
    };
    const { name, per, every } = { name: text('name'), per: text('per'), every: text('every') } as NewRule;
    if (rule === null) return send(api.POST('/api/v1/sampling-rules', { body: { name, per, every, ...size, filter } }));
    // Only what was changed: another person may have changed the rest.
    const body = {
      ...(changed(['name', 'per', 'every']) as Partial<NewRule>),
      ...((isChanged('amount') || isChanged('unit')) && size),
      ...(['segment_type', 'score_max', 'suspected'].some(isChanged) && { filter }),
    };
    return send(api.PATCH('/api/v1/sampling-rules/{uuid}', { params: { path: { uuid: rule.uuid } }, body }));
  };
  return (
    <FormDialog
      title={t(rule === null ? 'rules.create' : 'rules.change')}
      draft={`sampling-rule ${rule?.uuid ?? 'new'}`}
      save={save}
      isRepeatable={rule !== null}
      changes={['sampling-rules']}
      onClose={onClose}
    >
      <TextField label={t('rules.name')} name="name" required maxLength={255} defaultValue={rule?.name} />
      <TextField
        label={t('rules.amount')}
        name="amount"
        type="number"
        min={0}
        max={100_000}
        step="any"
        required
        defaultValue={rule === null ? 2 : (rule.count ?? Math.round((rule.share ?? 0) * 10_000) / 100)}
      />
      <SelectField
        label={t('rules.unit')}
        name="unit"
        options={UNITS}
        nameOf={(unit) => t(`rules.unit.${unit}`)}
        defaultValue={rule === null || rule.share === null ? 'calls' : 'percent'}
      />
      <SelectField
        label={t('rules.per')}
        name="per"
        options={PER}
        nameOf={(per) => t(`rules.per.${per}`)}
        defaultValue={rule?.per}
      />
      <SelectField
        label={t('rules.every')}
        name="every"
        options={EVERY}
        nameOf={(every) => t(`rules.every.${every}`)}
        defaultValue={rule?.every}
      />
      <SelectField
        key={types.join()}
        label={t('rules.segmentType')}
        name="segment_type"
        options={types}
        nameOf={(type) => type || t('rules.all')}
        defaultValue={segment_type[0]}
      />
      <TextField
        label={t('rules.scoreMax')}
        name="score_max"
        type="number"
        min={0}
        max={100}
        step={0.1}
        defaultValue={score_max}
      />
      <Check name="suspected" value="true" defaultChecked={auto_fail_suspected === 'true'}>
        {t('rules.suspected')}
      </Check>
    </FormDialog>
  );
}
