import { useMutation, useQuery } from '@tanstack/react-query';
import type { SyntheticEvent } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { firmQuery } from '../../api/firm.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import { leaveForm } from '../../drafts/leave-question.tsx';
import { useFormDraft } from '../../drafts/use-form-draft.ts';
import { Dialog, DialogActions } from '../../widgets/dialog.tsx';
import { Fault } from '../../widgets/fault.tsx';
import { Field } from '../../widgets/field.tsx';
import { settingsTexts } from './texts.ts';

type NewRule = Schemas['CreateSamplingRuleRequest'];

const PER: readonly NewRule['per'][] = ['operator', 'operator_group_name', 'segment_type', 'firm'];
const EVERY: readonly NewRule['every'][] = ['week', 'day'];
const KEY = 'sampling-rule new';

interface Props {
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

export function SamplingRuleForm({ onSaved, onClose }: Props) {
  const t = settingsTexts.use();
  const shell = shellTexts.use();
  const draft = useFormDraft(KEY);
  const firm = useQuery(firmQuery);
  const leave = () => void leaveForm(KEY, draft.isChanged, onClose);
  const save = useMutation({
    mutationFn: (body: NewRule) => send(api.POST('/api/v1/sampling-rules', { body })),
    onSuccess: () => {
      draft.discard();
      onSaved();
    },
  });
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim();
    const amount = Number(text('amount'));
    save.mutate({
      name: text('name'),
      per: text('per') as NewRule['per'],
      every: text('every') as NewRule['every'],
      ...(text('unit') === 'calls' ? { count: amount } : { share: amount / 100 }),
      filter: {
        ...(text('segment_type') !== '' && { segment_type: [text('segment_type')] }),
        ...(text('score_max') !== '' && { score_max: text('score_max') }),
        ...(form.has('suspected') && { auto_fail_suspected: 'true' }),
      },
    });
  };
  return (
    <Dialog title={t('rules.create')} onClose={leave}>
      <form className="settings-form" onSubmit={submit} {...draft.form}>
        <Field label={t('rules.name')}>
          <input className="input" name="name" required maxLength={255} />
        </Field>
        <Field label={t('rules.amount')}>
          <input className="input" name="amount" type="number" min={1} max={100_000} required defaultValue={2} />
        </Field>
        <Field label={t('rules.unit')}>
          <select className="input" name="unit">
            <option value="calls">{t('rules.unit.calls')}</option>
            <option value="percent">{t('rules.unit.percent')}</option>
          </select>
        </Field>
        <Field label={t('rules.per')}>
          <select className="input" name="per">
            {PER.map((per) => (
              <option key={per} value={per}>
                {t(`rules.per.${per}`)}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t('rules.every')}>
          <select className="input" name="every">
            {EVERY.map((every) => (
              <option key={every} value={every}>
                {t(`rules.every.${every}`)}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t('rules.segmentType')}>
          <select className="input" name="segment_type">
            <option value="">{t('rules.all')}</option>
            {firm.data?.segment_types.map((type) => (
              <option key={type} value={type}>
                {type}
              </option>
            ))}
          </select>
        </Field>
        <Field label={t('rules.scoreMax')}>
          <input className="input" name="score_max" type="number" min={0} max={100} step={0.1} />
        </Field>
        <label className="check">
          <input type="checkbox" name="suspected" />
          {t('rules.suspected')}
        </label>
        {save.isError && <Fault error={save.error} />}
        <DialogActions onClose={leave}>
          <button type="submit" className="button button-primary" disabled={save.isPending}>
            {shell('save')}
          </button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
