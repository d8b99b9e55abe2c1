import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { firmQuery, samplingRulesQuery } from '../../api/client.ts';
import { useSession } from '../../session/session.ts';
import { Button, Popup, SelectField, TextField, Form } from '../../widgets/controls.tsx';
import { reviewTexts } from '../texts.ts';
import type { Wanted } from './use-queue.ts';

const FILTERS = ['segment', 'operator', 'score', 'rule'] as const;

const route = getRouteApi('/review');

/** Which calls the person wants, as the address says. */
export function useWanted(): Wanted {
  const { segment, operator, score, rule } = route.useSearch();
  const filter = {
    ...(segment !== undefined && { segment_type: [segment] }),
    ...(operator !== undefined && { operator_name: operator }),
    ...(score !== undefined && { score_max: score }),
  };
  return {
    // The types of the API have the filter as an object without fields.
    ...(Object.keys(filter).length > 0 && { filter: filter as Record<string, never> }),
    ...(rule !== undefined && { rule_uuid: rule }),
  };
}

/** Leaves out calls that the person does not want. An ADMIN may choose a sampling rule. */
export function QueueFilter() {
  const t = reviewTexts.use();
  const search = route.useSearch();
  const navigate = useNavigate();
  const isAdmin = useSession().role === 'ADMIN';
  const firm = useQuery(firmQuery);
  const rules = useQuery({ ...samplingRulesQuery, enabled: isAdmin });
  const ruleNames = new Map((rules.data?.items ?? []).map(({ uuid, name }) => [uuid, name]));
  const go = (chosen: Partial<typeof search>) => void navigate({ to: '/review', search: chosen, replace: true });
  const choose = (text: (name: string) => string) =>
    go(Object.fromEntries(FILTERS.map((name) => [name, text(name) || undefined])));
  const isOn = Object.keys(search).length > 0;
  return (
    <>
      <Popup className={isOn ? 'chip chip-on' : 'chip'} label={t('filter')}>
        {(close) => (
          <Form
            className="form filter-form"
            onSend={(text) => {
              choose(text);
              close();
            }}
          >
            <SelectField
              label={t('filter.segment')}
              name="segment"
              options={['', ...(firm.data?.segment_types ?? [])]}
              nameOf={(type) => type || t('filter.any')}
              defaultValue={search.segment}
            />
            <TextField
              label={t('filter.operator')}
              name="operator"
              maxLength={255}
              placeholder={t('filter.any')}
              defaultValue={search.operator}
            />
            <TextField
              label={t('filter.score')}
              name="score"
              type="number"
              min={0}
              max={100}
              step="any"
              placeholder={t('filter.any')}
              defaultValue={search.score}
            />
            {isAdmin && (
              <SelectField
                label={t('filter.rule')}
                name="rule"
                options={['', ...ruleNames.keys()]}
                nameOf={(uuid) => ruleNames.get(uuid) ?? t('filter.any')}
                defaultValue={search.rule}
              />
            )}
            <Button kind="primary" isSubmit>
              {t('filter.apply')}
            </Button>
          </Form>
        )}
      </Popup>
      {isOn && (
        <Button kind="quiet" isSmall onClick={() => go({})}>
          {t('filter.clear')}
        </Button>
      )}
    </>
  );
}
