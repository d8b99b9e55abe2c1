import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, get, type Schemas, send } from '../../api/client.ts';
import { type Fields, useForm } from '../../drafts/form.tsx';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { DAY_MS } from '../../i18n/zone/days.ts';
import { done } from '../../widgets/actions.tsx';
import { Button, Select, SelectField, TextField } from '../../widgets/controls.tsx';
import { QueryTable } from '../../widgets/list.tsx';
import { Card, LoadingOrFailed } from '../../widgets/page.tsx';
import { settingsTexts } from '../texts.ts';

const GROUPINGS = ['day', 'month', 'segment_type', 'model'] as const;
type Grouping = (typeof GROUPINGS)[number];
const WHEN_SPENT = ['wait', 'fallback'] as const;
const DAYS = 30;
const BUDGET = ['budget'] as const;

/** The cost of language models and speech, and the budget for language models. */
export function Money() {
  const budget = useQuery(get(BUDGET, '/api/v1/budget'));
  return (
    <section className="stack">
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
  const { spent, monthly, when_spent, warning } = budget;
  return (
    <Card title={t('budget')}>
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
          {warning !== null && monthly !== null && (
            <p role="alert">{t('budget.otherCurrency', { budget: monthly.currency, prices: spent.currency })}</p>
          )}
          {monthly !== null && warning === null && (
            <progress aria-label={t('budget')} max={Number(monthly.amount)} value={Number(spent.amount)} />
          )}
          <BudgetForm key={JSON.stringify([monthly, when_spent])} budget={budget} currency={spent.currency} />
        </>
      )}
    </Card>
  );
}

function BudgetForm({ budget, currency }: { budget: Schemas['Budget']; currency: string }) {
  const t = settingsTexts.use();
  const shell = shellTexts.use();
  const save = async ({ text, isChanged }: Fields) => {
    // A budget is replaced as a whole: what another person has changed of it meanwhile stays.
    const { monthly, when_spent } = await send(api.GET('/api/v1/budget'));
    const amount = text('amount');
    const body = {
      monthly: !isChanged('amount') ? monthly : amount === '' ? null : { amount, currency },
      when_spent: WHEN_SPENT.find((each) => isChanged('when_spent') && each === text('when_spent')) ?? when_spent,
    };
    await send(api.PUT('/api/v1/budget', { body }));
  };
  const { form, isSaving, fault } = useForm({
    draft: 'budget',
    save,
    changes: BUDGET,
    onSaved: () => done(t('budget.saved')),
  });
  return (
    <form className="settings-filters" {...form}>
      <TextField
        label={t('budget.monthly', { currency })}
        name="amount"
        inputMode="decimal"
        pattern="[0-9]+(\.[0-9]+)?"
        placeholder={t('budget.none')}
        defaultValue={budget.monthly?.amount ?? ''}
      />
      <SelectField
        label={t('budget.whenSpent')}
        name="when_spent"
        options={WHEN_SPENT}
        nameOf={(each) => t(`budget.${each}`)}
        defaultValue={budget.when_spent}
      />
      <Button kind="primary" isSubmit disabled={isSaving}>
        {shell('save')}
      </Button>
      {fault}
    </form>
  );
}

function Usage() {
  const t = settingsTexts.use();
  const [grouping, setGrouping] = useState<Grouping>('day');
  const from = new Date(Date.now() - DAYS * DAY_MS).toISOString().slice(0, 10);
  const usage = useQuery({
    ...get(['usage', grouping, from], '/api/v1/usage', { query: { group_by: grouping, from } }),
    placeholderData: keepPreviousData,
  });
  const nameOf = (key: string) => {
    if (grouping === 'day') return format.dayOfMonth(key);
    return grouping === 'month' ? format.monthOfYear(key) : key;
  };
  return (
    <Card
      title={t('usage', { days: format.number(DAYS) })}
      head={
        <label className="row">
          <span className="field-label">{t('usage.by')}</span>
          <Select options={GROUPINGS} nameOf={(each) => t(`usage.${each}`)} value={grouping} onChoose={setGrouping} />
        </label>
      }
    >
      <QueryTable
        query={usage}
        none={t('usage.none')}
        label={t('tab.money')}
        className="table-frame"
        items={usage.data?.items ?? []}
        keyOf={(item) => `${item.key} ${item.cost?.currency} ${item.speech_cost?.currency}`}
        columns={({ name, number }) => [
          name(t(`usage.${grouping}`), ({ key }) => nameOf(key), { className: 'foreign settings-key' }),
          ...FIGURES.map(([figure, cell]) => number(t(`usage.${figure}`), cell)),
        ]}
      />
    </Card>
  );
}
