import '../call/call.css';
import './review.css';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { firmQuery, samplingRulesQuery, type Schemas } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useSession } from '../../session/session.ts';
import { Button, Form, Popup, SelectField, TextField } from '../../widgets/controls.tsx';
import { Page, State, LoadingOrFailed, Failed, Loading } from '../../widgets/page.tsx';
import { useCall } from '../call/use-call.ts';
import { reviewTexts } from '../texts.ts';
import { ReviewCall } from './review-call.tsx';
import { useQueue, type Wanted } from './use-queue.ts';

/** The calls that need a review, one at a time. */
export default function ReviewPage() {
  const t = reviewTexts.use();
  const wanted = useWanted();
  const isFiltered = Object.keys(wanted).length > 0;
  const queue = useQueue(wanted);
  const { taken, uuid, numbers, remaining } = queue;
  return (
    <Page
      title={t('title')}
      actions={<QueueFilter />}
      beside={
        <>
          <p className="muted number" role="status">
            {numbers !== null && remaining > 0 && t('remaining', { n: remaining, count: format.number(remaining) })}
          </p>
          {numbers !== null && <Progress numbers={numbers} />}
        </>
      }
    >
      {uuid !== null ? (
        <Current key={uuid} uuid={uuid} onNext={queue.next} />
      ) : taken.isPending ? (
        <Loading />
      ) : taken.isError ? (
        <Failed error={taken.error} retry={() => void taken.refetch()} />
      ) : isFiltered ? (
        <State title={t('filter.none')}>
          {queue.hasSkipped && <Button onClick={queue.startOver}>{t('skipped.again')}</Button>}
        </State>
      ) : queue.hasSkipped ? (
        <State title={t('skipped.title')} text={t('skipped.text')}>
          <Button kind="primary" onClick={queue.startOver}>
            {t('skipped.again')}
          </Button>
        </State>
      ) : (
        <State title={t('empty.title')} text={t('empty.text')}>
          <Link to="/calls" className="button">
            {shellTexts.translate('notFound.back')}
          </Link>
        </State>
      )}
    </Page>
  );
}

/** What the others do, and what each person has finished today. */
function Progress({ numbers: { leased, done_today } }: { numbers: Schemas['ReviewQueue'] }) {
  const t = reviewTexts.use();
  const shell = shellTexts.use();
  const { userUuid } = useSession();
  return (
    <div className="review-progress muted number">
      <span>{t('inWork', { count: format.number(leased) })}</span>
      {done_today.length > 0 && (
        <>
          <span>{t('doneToday')}</span>
          <ul aria-label={t('doneToday')}>
            {done_today.map(({ user, done }) => (
              <li key={user.uuid}>
                <span className="foreign">
                  {user.uuid === userUuid ? shell('you') : (user.name ?? shell('someone'))}
                </span>{' '}
                {format.number(done)}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

function Current({ uuid, onNext }: { uuid: string; onNext: () => void }) {
  const t = reviewTexts.use();
  const call = useCall(uuid);
  if (call.data !== undefined && call.data.analysis !== null)
    return <ReviewCall call={call.data} analysis={call.data.analysis} onNext={onNext} />;
  return (
    <>
      <LoadingOrFailed query={call} />
      {!call.isPending && <Button onClick={onNext}>{t('skip')}</Button>}
    </>
  );
}

const FILTERS = ['segment', 'operator', 'score', 'rule'] as const;

const route = getRouteApi('/review');

/** Which calls the person wants, as the address says. */
function useWanted(): Wanted {
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
function QueueFilter() {
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
