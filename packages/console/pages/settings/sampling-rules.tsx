import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, samplingRulesQuery, type Schemas, send } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { useAction, useAskedAction } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { LoadingOrFailed, State } from '../../widgets/page.tsx';
import { optionName } from '../calls/filters/filter-value.ts';
import { type FilterKey, FILTERS } from '../calls/filters/filters.ts';
import { callsTexts } from '../texts.ts';
import { settingsTexts } from '../texts.ts';
import { Item, Part } from './parts.tsx';
import { SamplingRuleForm } from './sampling-rule-form.tsx';

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
          actions={
            <>
              <Button isSmall disabled={toggle.isPending} onClick={() => toggle.mutate(rule)}>
                {t(rule.enabled ? 'hooks.disable' : 'hooks.enable')}
              </Button>
              <Button isSmall onClick={() => setForm(rule)}>
                {t('hooks.change')}
              </Button>
              <Button kind="danger" isSmall onClick={() => remove(rule)}>
                {t('hooks.delete')}
              </Button>
            </>
          }
        />
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
  return `${callsTexts.translate(`filter.${name}`)}: ${values.map((value) => optionName(name, value)).join(', ')}`;
}
