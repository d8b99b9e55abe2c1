import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { api, type Schemas, send, get } from '../../../api/client.ts';
import * as format from '../../../i18n/format.ts';
import { endOfDay } from '../../../i18n/zone/days.ts';
import { timeZone } from '../../../i18n/zone/zone.ts';
import { may, useMay, useSession } from '../../../session/session.ts';
import { useAction } from '../../../widgets/actions.tsx';
import { Button, SelectField, TextField, Popup, PopupItem, Form } from '../../../widgets/controls.tsx';
import { Icon } from '../../../widgets/icon.tsx';
import { usePeople, usePersonName } from '../../../widgets/people.ts';
import { callTexts } from '../../texts.ts';
import { type CallDetail, callKey, FOLLOW_MS } from '../use-call.ts';

/** Whose task the call is, who reviewed it and when, and who has acknowledged that. */
export function CallDesk({ call }: { call: CallDetail }) {
  const t = callTexts.use();
  const nameOf = usePersonName();
  const mayReview = useMay('review');
  const { data: desk } = useCallDesk(call.uuid);
  const acknowledge = useAction(
    () => send(api.POST('/api/v1/calls/{uuid}/acknowledge', { params: { path: { uuid: call.uuid } } })),
    deskChanges(call.uuid),
  );
  if (desk === undefined) return null;
  const { assignment, acknowledgement } = desk;
  const assignedTo = assignment?.assigned_to ?? null;
  const review = call.analysis?.review ?? null;
  return (
    <div className="call-desk">
      {assignment !== null && assignedTo !== null && (
        <p>
          <Icon name="person" size={13} />
          <span className="foreign">{t('desk.assignedTo', { name: nameOf(assignedTo) })}</span>
          {assignment.due !== null && (
            <span className={Date.parse(assignment.due) < Date.now() && review?.done !== true ? 'desk-late' : 'muted'}>
              {t('desk.due', { at: format.shortDateTime(assignment.due) })}
            </span>
          )}
        </p>
      )}
      {mayReview && <Assign call={call} assignedTo={assignedTo} />}
      {review !== null && (
        <p>
          <Icon name="check" size={13} />
          <span className="foreign">
            {t(review.done ? 'desk.reviewedBy' : 'desk.begunBy', {
              name: nameOf(review.by),
              at: format.shortDateTime(review.at),
            })}
          </span>
        </p>
      )}
      {acknowledgement !== null && (
        <p className="muted">
          <span className="foreign">
            {t('desk.acknowledgedBy', {
              name: nameOf(acknowledgement.acknowledged_by),
              at: format.shortDateTime(acknowledgement.acknowledged_at),
            })}
          </span>
        </p>
      )}
      {!mayReview && review?.done === true && acknowledgement === null && (
        <Button
          icon="check"
          kind="primary"
          isSmall
          disabled={acknowledge.isPending}
          onClick={() => acknowledge.mutate()}
        >
          {t('desk.acknowledge')}
        </Button>
      )}
    </div>
  );
}

/** An ADMIN assigns to anybody; others take a call, and give back what is theirs. */
function Assign({ call, assignedTo }: { call: CallDetail; assignedTo: string | null }) {
  const t = callTexts.use();
  const { userUuid, role } = useSession();
  const assign = useAction(
    (body: Schemas['AssignCallRequest']) =>
      send(api.PUT('/api/v1/calls/{uuid}/assignment', { params: { path: { uuid: call.uuid } }, body })),
    deskChanges(call.uuid),
  );
  const mayChange = role === 'ADMIN' || assignedTo === null || assignedTo === userUuid;
  if (!mayChange) return null;
  return (
    <Popup className="button button-small" label={t(assignedTo === null ? 'desk.assign' : 'desk.reassign')}>
      {(close) => (
        <>
          {assignedTo !== userUuid && (
            <PopupItem icon="person" onClick={() => assign.mutate({ user_uuid: userUuid })}>
              {t('desk.toMe')}
            </PopupItem>
          )}
          {assignedTo !== null && (
            <PopupItem icon="close" onClick={() => assign.mutate({ user_uuid: null })}>
              {t('desk.toNobody')}
            </PopupItem>
          )}
          {role === 'ADMIN' && (
            <ToPerson
              onAssign={(chosen) => {
                assign.mutate(chosen);
                close();
              }}
            />
          )}
        </>
      )}
    </Popup>
  );
}

function ToPerson({ onAssign }: { onAssign: (chosen: Schemas['AssignCallRequest']) => void }) {
  const t = callTexts.use();
  const people = usePeople().filter(({ role }) => may(role, 'review'));
  const id = useId();
  return (
    <Form
      className="desk-form"
      aria-labelledby={id}
      onSend={(text) =>
        onAssign({ user_uuid: text('person'), ...(text('due') !== '' && { due: endOfDay(text('due'), timeZone()) }) })
      }
    >
      <p id={id} className="muted">
        {t('desk.toPerson')}
      </p>
      <SelectField
        label={t('desk.person')}
        name="person"
        required
        options={people.map(({ uuid }) => uuid)}
        nameOf={(uuid) => people.find((each) => each.uuid === uuid)?.name ?? ''}
      />
      <TextField label={t('desk.until')} type="date" name="due" />
      <Button isSubmit disabled={people.length === 0}>
        {t('desk.assign')}
      </Button>
    </Form>
  );
}

export type Dispute = Schemas['Dispute'];

const deskKey = (uuid: string) => ['desk', uuid] as const;

/** Whose task the call is, who has acknowledged its review, and its disputes, the oldest first. */
export function useCallDesk(uuid: string) {
  return useQuery({
    ...get(deskKey(uuid), '/api/v1/calls/{uuid}/desk', { path: { uuid } }),
    refetchInterval: FOLLOW_MS,
  });
}

/** What is fetched again after a change. */
export const deskChanges = (uuid: string) => ({ changes: [deskKey(uuid), callKey(uuid), ['inbox'], ['calls']] });
