import { useQuery } from '@tanstack/react-query';
import { api, type Schemas, send, firmQuery } from '../../api/client.ts';
import { type Fields, FormDialog } from '../../drafts/form.tsx';
import { Check, SelectField, TextField } from '../../widgets/controls.tsx';
import { settingsTexts } from '../texts.ts';

type Rule = Schemas['SamplingRule'];
type NewRule = Schemas['CreateSamplingRuleRequest'];

const UNITS = ['calls', 'percent'] as const;
const PER: readonly Rule['per'][] = ['operator', 'operator_group_name', 'segment_type', 'firm'];
const EVERY: readonly Rule['every'][] = ['week', 'day'];

export function SamplingRuleForm({ rule, onClose }: { rule: Rule | null; onClose: () => void }) {
  const t = settingsTexts.use();
  const firm = useQuery(firmQuery);
  const { segment_type = '', score_max = '', auto_fail_suspected, ...others } = rule?.filter ?? {};
  const types = [...new Set(['', ...[segment_type].flat(), ...(firm.data?.segment_types ?? [])])];
  const save = async ({ text, all, isChanged, changed }: Fields) => {
    const amount = Number(text('amount'));
    const size = text('unit') === 'calls' ? { count: amount } : { share: amount / 100 };
    const filter = {
      // What the form does not have stays.
      ...others,
      ...(text('segment_type') !== '' && { segment_type: [text('segment_type')] }),
      ...(text('score_max') !== '' && { score_max: text('score_max') }),
      ...(all('suspected').length > 0 && { auto_fail_suspected: 'true' }),
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
        defaultValue={[segment_type].flat()[0]}
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
