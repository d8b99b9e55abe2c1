import { Link } from '@tanstack/react-router';
import * as format from '../../i18n/format.ts';
import { Score, StatusBadge } from '../../widgets/call-facts.tsx';
import { useTitle } from '../../widgets/use-title.ts';
import { callTexts } from './texts.ts';
import type { Analysis, CallDetail } from './use-call.ts';

export function CallView({ call }: { call: CallDetail }) {
  const t = callTexts.use();
  useTitle(t('title', { operator: call.operator_name }));
  return (
    <div className="page">
      <nav className="crumbs">
        <Link to="/calls">{t('calls')}</Link>
      </nav>
      <div className="page-head">
        <h1 className="foreign">{call.operator_name}</h1>
        <StatusBadge status={call.status} />
        <span className="muted">{format.dateTime(call.start_time)}</span>
      </div>
      {call.failure !== null && <p role="alert">{call.failure.message}</p>}
      <div className="call-columns">
        <section className="card transcript" aria-label={t('transcript')}>
          <ol>
            {call.transcript?.utterances.map(({ index, role, text }) => (
              <li key={index} className={`utterance utterance-${role}`}>
                <span className="utterance-role">{t(`role.${role}`)}</span>
                <span className="foreign">{text}</span>
              </li>
            ))}
          </ol>
        </section>
        {call.analysis !== null && <Answers analysis={call.analysis} />}
      </div>
    </div>
  );
}

function Answers({ analysis }: { analysis: Analysis }) {
  const t = callTexts.use();
  return (
    <section className="card card-body" aria-label={t('score')}>
      <h2>
        {t('score')} <Score value={analysis.score} />
      </h2>
      {analysis.sections.map((section) => (
        <div key={section.name}>
          <h3 className="foreign">{section.name}</h3>
          <ul>
            {section.questions.map((question) => (
              <li key={question.uuid}>
                <span className="foreign">{question.text}</span>{' '}
                <strong className="foreign">{question.answer ?? '–'}</strong>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  );
}
