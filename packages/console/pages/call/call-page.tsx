import './call.css';
import { ApiError } from '@call-analysis/client/errors';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Failed, Loading, State, useFailure } from '../../widgets/page.tsx';
import { callTexts } from '../texts.ts';
import { CallView } from './call-view.tsx';
import { useCall } from './use-call.ts';

const route = getRouteApi('/calls/$uuid');

/** One call: its recording, transcript and scores. */
export function CallPage() {
  const { uuid } = route.useParams();
  const { q, question, t: moment } = route.useSearch();
  const call = useCall(uuid);
  if (call.data !== undefined)
    return <CallView key={uuid} call={call.data} words={q} firstQuestion={question} moment={Number(moment) || 0} />;
  if (call.isPending) return <Loading />;
  if (call.error instanceof ApiError && call.error.status === 404) return <Gone error={call.error} />;
  return <Failed error={call.error} retry={() => void call.refetch()} />;
}

/** An erased call does not come back, so there is nothing to try again. */
function Gone({ error }: { error: ApiError }) {
  const t = callTexts.use();
  return (
    <State isPage {...useFailure(error)}>
      <Link to="/calls" className="button">
        {t('toCalls')}
      </Link>
    </State>
  );
}
