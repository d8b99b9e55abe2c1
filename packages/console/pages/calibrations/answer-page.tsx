import '../call/call.css';
import './calibrations.css';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { api, send } from '../../api/client.ts';
import { saving } from '../../api/connection.ts';
import { useDraft } from '../../drafts/drafts.ts';
import * as format from '../../i18n/format.ts';
import { useSession } from '../../session/session.ts';
import { failed } from '../../widgets/actions.tsx';
import { Button, Chip } from '../../widgets/controls.tsx';
import { PageHead, useTitle, LoadingOrFailed, Crumbs } from '../../widgets/page.tsx';
import { Listening, useListening } from '../call/listening.tsx';
import { type Analysis, type CallDetail, useCall } from '../call/use-call.ts';
import { questionsOf } from '../call/use-review.tsx';
import { calibrationTexts, callTexts } from '../texts.ts';
import { type Calibration, CALIBRATIONS, nextToAnswer, useCalibration } from './use-calibrations.ts';

const route = getRouteApi('/calibrations/$uuid/calls/$call');

/** A call of a calibration with its questions, and without anybody's answers but one's own. */
export default function AnswerPage() {
  const { uuid, call: callUuid } = route.useParams();
  const calibration = useCalibration(uuid);
  const call = useCall(callUuid);
  useTitle(calibration.data?.name ?? '');
  if (calibration.data === undefined) return <LoadingOrFailed query={calibration} />;
  if (call.data === undefined) return <LoadingOrFailed query={call} />;
  const wanted = calibration.data.calls.find(({ call_uuid }) => call_uuid === callUuid)?.analysis_uuid;
  const analysis = call.data.analyses.find((each) => each.uuid === wanted) ?? null;
  return <Blind key={callUuid} {...{ calibration: calibration.data, call: call.data, analysis }} />;
}

interface Props {
  readonly calibration: Calibration;
  readonly call: CallDetail;
  readonly analysis: Analysis | null;
}
type Answers = Readonly<Record<string, string | null>>;

function Blind({ calibration, call, analysis }: Props) {
  const t = calibrationTexts.use();
  const c = callTexts.use();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { userUuid } = useSession();
  const listening = useListening(call);
  const { uuid, calls } = calibration;
  const at = calls.findIndex(({ call_uuid }) => call_uuid === call.uuid);
  const own = calls[at]?.answers.find(({ user_uuid }) => user_uuid === userUuid)?.answers ?? [];
  const saved: Answers = Object.fromEntries(own.map(({ question_uuid, answer }) => [question_uuid, answer]));
  const { value: answers, set, discard } = useDraft(`calibration ${uuid} ${call.uuid}`, saved);
  const questions = analysis === null ? [] : questionsOf(analysis);
  const given = questions.filter((question) => answers[question.uuid] !== undefined);
  const next = nextToAnswer(calibration, userUuid, call.uuid);
  const save = useMutation({
    ...saving,
    mutationFn: () =>
      send(
        api.PUT('/api/v1/calibrations/{uuid}/calls/{call_uuid}', {
          params: { path: { uuid, call_uuid: call.uuid } },
          body: { answers: given.map((each) => ({ question_uuid: each.uuid, answer: answers[each.uuid] ?? null })) },
        }),
      ),
    onSuccess: async () => {
      discard();
      await client.invalidateQueries({ queryKey: CALIBRATIONS });
      void client.invalidateQueries({ queryKey: ['inbox'] });
      await (next === undefined
        ? navigate({ to: '/calibrations/$uuid', params: { uuid } })
        : navigate({ to: '/calibrations/$uuid/calls/$call', params: { uuid, call: next } }));
    },
    onError: failed,
  });
  const isComplete = questions.length > 0 && given.length === questions.length;
  return (
    <div className="page call-page">
      <Crumbs>
        <Link to="/calibrations/$uuid" params={{ uuid }} className="foreign">
          {calibration.name}
        </Link>
      </Crumbs>
      <PageHead title={t('callOf', { at: format.number(at + 1), of: format.number(calls.length) })}>
        <p className="muted foreign">
          {call.operator_name}, {format.shortDateTime(call.start_time)}
        </p>
      </PageHead>
      <div className="call-columns">
        <div className="call-main">
          <Listening call={call} listening={listening} />
        </div>
        <section className="score-panel" aria-label={t('yourAnswers')}>
          <p className="muted">{t('blind')}</p>
          {analysis?.sections.map((section, index) => (
            <div key={`${index} ${section.name}`} className="card card-body stack">
              <h2 className="foreign">{section.name}</h2>
              {section.questions.map((question) => (
                <fieldset key={question.uuid} className="group">
                  <legend className="foreign">{question.text}</legend>
                  <div className="choices">
                    {[...(question.choices ?? []), null].map((answer) => (
                      <Chip
                        key={answer ?? ''}
                        isOn={answers[question.uuid] === answer}
                        onClick={() => set({ ...answers, [question.uuid]: answer })}
                      >
                        <span className="foreign">{answer ?? c('notApplicable')}</span>
                      </Chip>
                    ))}
                  </div>
                </fieldset>
              ))}
            </div>
          ))}
          <div className="row">
            <Button
              kind="primary"
              disabled={!isComplete || save.isPending || calibration.status === 'closed'}
              onClick={() => save.mutate()}
            >
              {t(next === undefined ? 'save' : 'saveAndNext')}
            </Button>
            <span className="muted number" role="status">
              {t('questionsAnswered', {
                count: format.number(given.length),
                of: format.number(questions.length),
              })}
            </span>
          </div>
        </section>
      </div>
    </div>
  );
}
