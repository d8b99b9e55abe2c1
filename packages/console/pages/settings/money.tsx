import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type SyntheticEvent, useState } from 'react';
import { api, type Schemas, send } from '../../api/client.ts';
import { saving } from '../../api/query-client.ts';
import { shellTexts } from '../../app/shell-texts.ts';
import { useFormDraft } from '../../drafts/use-form-draft.ts';
import * as format from '../../i18n/format.ts';
import { Field } from '../../widgets/field.tsx';
import { LoadingOrFailed } from '../../widgets/states.tsx';
import { Table } from '../../widgets/table.tsx';
import { done, failed } from '../../widgets/toasts.tsx';
import { settingsTexts } from './texts.ts';

const GROUPINGS = ['day', 'month', 'segment_type', 'model'] as const;
type Grouping = (typeof GROUPINGS)[number];
const DAYS = 30;
const BUDGET = ['budget'] as const;

/** The cost of language models and speech, and the budget for language models. */
export function Money() {
  const budget = useQuery({ queryKey: BUDGET, queryFn: ({ signal }) => send(api.GET('/api/v1/budget', { signal })) });
  return (
    <section className="settings-part">
      <LoadingOrFailed query={budget} />
      {budget.data !== undefined && <BudgetCard budget={budget.data} />}
      <Usage />
    </section>
  );
}

function amountOf(money: Schemas['Money'] | null): string {
  return money === null ? '–' : `${format.number(Number(money.amount), 4, 2)} ${money.currency}`;
}

type UsageItem = Schemas['UsageItem'];

/** The figures of a period, each with the name of its text. */
const FIGURES = [
  ['calls', (item: UsageItem) => format.number(item.calls)],
  ['audio', (item: UsageItem) => format.duration(item.audio_seconds)],
  ['requests', (item: UsageItem) => format.number(item.requests)],
  ['input', (item: UsageItem) => format.number(item.input_tokens)],
  ['cached', (item: UsageItem) => format.number(item.cached_input_tokens)],
  ['output', (item: UsageItem) => format.number(item.output_tokens)],
  ['cost', (item: UsageItem) => amountOf(item.cost)],
  ['speech', (item: UsageItem) => format.duration(item.speech_seconds)],
  ['speechCost', (item: UsageItem) => amountOf(item.speech_cost)],
] as const;

function BudgetCard({ budget }: { budget: Schemas['Budget'] }) {
  const t = settingsTexts.use();
  const shell = shellTexts.use();
  const client = useQueryClient();
  const draft = useFormDraft('budget');
  const save = useMutation({
    ...saving,
    mutationFn: async (changed: { monthly?: Schemas['Money'] | null; when_spent?: 'wait' | 'fallback' }) => {
      // A budget is replaced as a whole: what another person has changed of it meanwhile stays.
      const { monthly: amount, when_spent } = await send(api.GET('/api/v1/budget'));
      await send(api.PUT('/api/v1/budget', { body: { monthly: amount, when_spent, ...changed } }));
      draft.discard();
      await client.invalidateQueries({ queryKey: BUDGET });
      done(t('budget.saved'));
    },
    onError: failed,
  });
  const { spent, monthly } = budget;
  const submit = (event: SyntheticEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const amount = String(form.get('amount')).trim();
    save.mutate({
      ...(draft.changed.has('amount') && {
        monthly: amount === '' ? null : { amount, currency: spent?.currency ?? '' },
      }),
      ...(draft.changed.has('when_spent') && {
        when_spent: form.get('when_spent') === 'fallback' ? 'fallback' : 'wait',
      }),
    });
  };
  return (
    <div className="card card-body settings-part">
      <h2>{t('budget')}</h2>
      {spent === null ? (
        <p className="muted">{t('budget.noPrices')}</p>
      ) : (
        <>
          <p>
            {monthly === null
              ? t('budget.spentFree', { spent: amountOf(spent) })
              : t('budget.spent', {
                  spent: amountOf(spent),
                  monthly: amountOf(monthly),
                  at: format.date(budget.resets_at),
                })}
          </p>
          {budget.warning !== null && monthly !== null && (
            <p role="alert">{t('budget.otherCurrency', { budget: monthly.currency, prices: spent.currency })}</p>
          )}
          {monthly !== null && budget.warning === null && (
            <progress aria-label={t('budget')} max={Number(monthly.amount)} value={Number(spent.amount)} />
          )}
          <form
            className="settings-filters"
            onSubmit={submit}
            key={JSON.stringify([monthly, budget.when_spent])}
            {...draft.form}
          >
            <Field label={t('budget.monthly', { currency: spent.currency })}>
              <input
                className="input"
                name="amount"
                inputMode="decimal"
                pattern="[0-9]+(\.[0-9]+)?"
                placeholder={t('budget.none')}
                defaultValue={monthly?.amount ?? ''}
              />
            </Field>
            <Field label={t('budget.whenSpent')}>
              <select className="input" name="when_spent" defaultValue={budget.when_spent}>
                <option value="wait">{t('budget.wait')}</option>
                <option value="fallback">{t('budget.fallback')}</option>
              </select>
            </Field>
            <button type="submit" className="button button-primary" disabled={save.isPending}>
              {shell('save')}
            </button>
          </form>
        </>
      )}
    </div>
  );
}

function Usage() {
  const t = settingsTexts.use();
  const [grouping, setGrouping] = useState<Grouping>('day');
  const from = new Date(Date.now() - DAYS * 86_400_000).toISOString().slice(0, 10);
  const usage = useQuery({
    queryKey: ['usage', grouping, from],
    queryFn: ({ signal }) =>
      send(api.GET('/api/v1/usage', { params: { query: { group_by: grouping, from } }, signal })),
    placeholderData: keepPreviousData,
  });
  const nameOf = (key: string) => {
    if (grouping === 'day') return format.dayOfMonth(key);
    return grouping === 'month' ? format.monthOfYear(key) : key;
  };
  return (
    <div className="card card-body settings-part">
      <div className="settings-row">
        <h2 className="settings-text">{t('usage', { days: format.number(DAYS) })}</h2>
        <label className="settings-row">
          <span className="field-label">{t('usage.by')}</span>
          <select
            className="input"
            value={grouping}
            onChange={({ target }) => setGrouping(GROUPINGS.find((each) => each === target.value) ?? 'day')}
          >
            {GROUPINGS.map((each) => (
              <option key={each} value={each}>
                {t(`usage.${each}`)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <LoadingOrFailed query={usage} />
      {usage.data?.items.length === 0 && <p className="muted">{t('usage.none')}</p>}
      {usage.data !== undefined && usage.data.items.length > 0 && (
        <Table
          label={t('tab.money')}
          items={usage.data.items}
          keyOf={(item) => `${item.key} ${item.cost?.currency} ${item.speech_cost?.currency}`}
          columns={[
            {
              title: t(`usage.${grouping}`),
              kind: 'name',
              className: 'foreign settings-key',
              cell: ({ key }) => nameOf(key),
            },
            ...FIGURES.map(([name, cell]) => ({ title: t(`usage.${name}`), kind: 'number' as const, cell })),
          ]}
        />
      )}
    </div>
  );
}
