import { currentSession } from '../../../session/session.ts';

/** Where an earlier console has stored the views of a person in this browser. */
export const storageKey = () => `console.calls.views.${currentSession()?.userUuid ?? ''}`;
