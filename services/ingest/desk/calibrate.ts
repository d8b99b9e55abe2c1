import type { NewCalibration, NewCalibrationAnswers } from '@call-analysis/api/desk';
import { Fault, type FieldFault, invalidFields, notFound } from '@call-analysis/fault';
import type { Page } from '@call-analysis/postgres';
import { auditEntry, type Person } from '@call-analysis/service';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import type { ReviewDeps } from '../reviews/review-analysis.ts';
import { agreementOfPeople } from './agreement-of-people.ts';
import type { CalibratedCall, Calibration, Calibrations, GivenAnswer } from './calibration-store.ts';

interface Deps extends ReviewDeps {
  readonly calibrations: Calibrations;
}

/** Faults: VALIDATION_ERROR for calls that are unknown or have no current analysis. */
export async function createCalibration(
  deps: Deps,
  caller: Person,
  { name, call_uuids: callUuids, user_uuids: userUuids, due }: z.output<typeof NewCalibration>,
) {
  const { db, bus, calibrations } = deps;
  const { firmUuid, userUuid: by } = caller;
  const calibration = {
    uuid: uuidv7(),
    name,
    due: due === undefined ? null : new Date(due),
    users: userUuids,
    by,
    created_at: new Date(),
    closed_at: null,
  };
  const calls = await db.transaction(async (tx) => {
    const current = await calibrations.keepCalls(tx, firmUuid, callUuids);
    const faults = callUuids.flatMap((uuid, at): FieldFault[] => {
      const fault = { field: `call_uuids.${at}`, code: 'INVALID', message: 'is not a call that has an analysis' };
      return current.has(uuid) ? [] : [fault];
    });
    if (faults.length > 0) throw invalidFields(faults);
    const chosen = callUuids.map((uuid) => ({ call_uuid: uuid, analysis_uuid: current.get(uuid)! }));
    await calibrations.add(tx, firmUuid, calibration, chosen);
    await bus.publish(tx, [auditEntry('ingest', caller, 'calibration.created', calibration.uuid)]);
    return chosen;
  });
  return shown(calibration, calls, [], null);
}

/** Newest first: a REVIEWER's own and those that they are invited to, for others all of the firm. */
export function listCalibrations(
  { calibrations }: Pick<Deps, 'calibrations'>,
  { firmUuid, userUuid, role }: Person,
  page: Page,
) {
  return calibrations.list(firmUuid, role === 'REVIEWER' ? userUuid : null, page);
}

/**
 * A calibration with who has answered what: only the caller's own answers, until all have answered or an ADMIN has
 * closed it. Then with all answers and how far they agree. Fault: NOT_FOUND.
 */
export async function readCalibration(deps: Deps, caller: Person, uuid: string) {
  const { db, calibrations } = deps;
  const { firmUuid } = caller;
  const calibration = await visible(calibrations, caller, uuid);
  const [calls, answers] = await Promise.all([
    calibrations.calls(db, firmUuid, uuid),
    calibrations.answers(db, firmUuid, uuid),
  ]);
  const isOpen = calibration.closed_at === null && !isComplete(calibration, calls, answers);
  if (isOpen) return shown(calibration, calls, answers, null, caller.userUuid);
  const texts = await questionTexts(deps, firmUuid, calls);
  const { questions, ...rest } = agreementOfPeople(answers);
  const agreement = { questions: questions.map((each) => ({ text: texts.get(each.uuid) ?? null, ...each })), ...rest };
  return shown(calibration, calls, answers, agreement);
}

/**
 * Stores the caller's answers about a call, instead of earlier ones. The score of the call stays. Faults: NOT_FOUND;
 * FORBIDDEN for those who are not invited; INVALID_TRANSITION once everyone may see the answers; VALIDATION_ERROR.
 */
export async function answerCalibration(
  { db, reviews, bus, calibrations, scorecards }: Deps,
  caller: Person,
  uuid: string,
  callUuid: string,
  { answers }: z.output<typeof NewCalibrationAnswers>,
) {
  const { firmUuid, userUuid } = caller;
  const calibration = await visible(calibrations, caller, uuid);
  if (!calibration.users.includes(userUuid))
    throw new Fault('forbidden', 'FORBIDDEN', 'You are not invited to this calibration.');
  const call = (await calibrations.calls(db, firmUuid, uuid)).find((each) => each.call_uuid === callUuid);
  if (call === undefined) throw notFound('call');
  const machine = await reviews.machineAnalysis(db, firmUuid, callUuid, call.analysis_uuid);
  const given = answers.map((each) => ({ ...each, comment: null }));
  // Checks questions and labels.
  await scorecards.addUp(caller, machine, given);
  return db.transaction(async (tx) => {
    const current = await calibrations.get(firmUuid, uuid, tx);
    const calls = await calibrations.calls(tx, firmUuid, uuid);
    if (current.closed_at !== null || isComplete(current, calls, await calibrations.answers(tx, firmUuid, uuid))) {
      const message = 'The answers of this calibration are open to everyone, so none can be changed.';
      throw new Fault('conflict', 'INVALID_TRANSITION', message);
    }
    if (!calls.some(({ call_uuid }) => call_uuid === callUuid)) throw notFound('call');
    await calibrations.answer(tx, firmUuid, uuid, { call_uuid: callUuid, user_uuid: userUuid }, answers);
    await bus.publish(tx, [auditEntry('ingest', caller, 'calibration.answered', uuid)]);
    return { call_uuid: callUuid, answers };
  });
}

/** Shows everyone's answers, also where some are missing. Closing it again changes nothing. Fault: NOT_FOUND. */
export async function closeCalibration(deps: Deps, caller: Person, uuid: string) {
  const { db, bus, calibrations } = deps;
  await db.transaction(async (tx) => {
    const calibration = await calibrations.get(caller.firmUuid, uuid, tx);
    if (calibration.closed_at !== null) return;
    await calibrations.close(tx, caller.firmUuid, uuid, new Date());
    await bus.publish(tx, [auditEntry('ingest', caller, 'calibration.closed', uuid)]);
  });
  return readCalibration(deps, caller, uuid);
}

async function visible(calibrations: Calibrations, caller: Person, uuid: string): Promise<Calibration> {
  const calibration = await calibrations.get(caller.firmUuid, uuid);
  const { userUuid, role } = caller;
  const isTheirs = calibration.by === userUuid || calibration.users.includes(userUuid);
  if (role === 'REVIEWER' && !isTheirs) throw notFound('calibration');
  return calibration;
}

/** Whether everyone who is invited has answered about every call. */
function isComplete(
  { users }: Calibration,
  calls: readonly CalibratedCall[],
  answers: readonly Pick<GivenAnswer, 'call_uuid' | 'user_uuid'>[],
): boolean {
  const given = new Set(answers.map(({ call_uuid, user_uuid }) => `${call_uuid} ${user_uuid}`));
  return calls.every(({ call_uuid }) => users.every((user) => given.has(`${call_uuid} ${user}`)));
}

/** `viewer`: whose answers are shown; undefined shows all. */
function shown<Agreement>(
  calibration: Calibration,
  calls: readonly CalibratedCall[],
  answers: readonly GivenAnswer[],
  agreement: Agreement,
  viewer?: string,
) {
  return {
    ...calibration,
    status: agreement === null ? ('open' as const) : ('closed' as const),
    calls: calls.map((call) => {
      const ofCall = answers.filter(({ call_uuid }) => call_uuid === call.call_uuid);
      const byUser = [...Map.groupBy(ofCall, ({ user_uuid }) => user_uuid)];
      return {
        ...call,
        answered_by: byUser.map(([user]) => user),
        answers: byUser
          .filter(([user]) => viewer === undefined || user === viewer)
          .map(([user_uuid, own]) => ({
            user_uuid,
            answers: own.map(({ question_uuid, answer }) => ({ question_uuid, answer })),
          })),
      };
    }),
    agreement,
  };
}

async function questionTexts({ db, reviews }: Deps, firmUuid: string, calls: readonly CalibratedCall[]) {
  const analyses = await reviews.machineAnalyses(db, firmUuid, calls);
  const questions = analyses.flatMap(({ sections }) => sections).flatMap((section) => section.questions);
  return new Map(questions.map(({ uuid, text }) => [uuid, text]));
}
