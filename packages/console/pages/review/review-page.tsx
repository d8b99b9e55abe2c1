import '../call/call.css';
import './review.css';
import { Link } from '@tanstack/react-router';
import type { Schemas } from '../../api/client.ts';
import * as format from '../../i18n/format.ts';
import { shellTexts } from '../../i18n/texts.ts';
import { useSession } from '../../session/session.ts';
import { Button } from '../../widgets/controls.tsx';
import { Page, State, LoadingOrFailed, Failed, Loading } from '../../widgets/page.tsx';
import { useCall } from '../call/use-call.ts';
import { reviewTexts } from '../texts.ts';
import { QueueFilter, useWanted } from './queue-filter.tsx';
import { ReviewCall } from './review-call.tsx';
import { useQueue } from './use-queue.ts';

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
