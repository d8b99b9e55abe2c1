import { useState } from 'react';
import { useMay, useSession } from '../../../session/session.ts';
import { done } from '../../../widgets/actions.tsx';
import { Button, Check, Form, TextField, PopupItem } from '../../../widgets/controls.tsx';
import { callsTexts } from '../../texts.ts';
import type { CallSearch } from '../call-search.ts';
import { useViewChanges, searchOf, type View } from './use-views.ts';

const MAX_NAME = 255;

interface Props {
  readonly views: readonly View[];
  /** The one that is open. */
  readonly open: View | undefined;
  readonly search: CallSearch;
  readonly onOpen: (search: CallSearch) => void;
  readonly onManage: () => void;
}

/** The views to open, and a form that saves the present filters as another. */
export default function ViewChoice({ views, open, search, onOpen, onManage }: Props) {
  const t = callsTexts.use();
  const { userUuid } = useSession();
  const group = (title: string, of: readonly View[]) =>
    of.length > 0 && (
      <div role="group" aria-label={title}>
        <p className="popup-note muted">{title}</p>
        {of.map((view) => (
          <PopupItem
            key={view.uuid}
            aria-current={view === open ? 'true' : undefined}
            onClick={() => onOpen(searchOf(view))}
          >
            <span className="popup-tick">{view === open ? '✓' : ''}</span>
            <span className="foreign">{view.name}</span>
            {view.start_page && <span className="badge views-start">{t('views.startPage')}</span>}
          </PopupItem>
        ))}
      </div>
    );
  return (
    <>
      {views.length === 0 && <p className="popup-note muted">{t('noViews')}</p>}
      {group(
        t('views.mine'),
        views.filter(({ by }) => by === userUuid),
      )}
      {group(
        t('views.others'),
        views.filter(({ by }) => by !== userUuid),
      )}
      {views.length > 0 && (
        <PopupItem icon="settings" onClick={onManage}>
          {t('views.manage')}
        </PopupItem>
      )}
      <NewView search={search} />
    </>
  );
}

function NewView({ search }: { search: CallSearch }) {
  const t = callsTexts.use();
  const { create } = useViewChanges();
  const mayShare = useMay('process');
  const [name, setName] = useState('');
  const [isShared, setShared] = useState(false);
  const submit = () => {
    const given = name.trim();
    if (given === '' || create.isPending) return;
    create.mutate(
      { name: given, search, shared: isShared },
      {
        onSuccess: () => {
          setName('');
          done(t('views.saved'));
        },
      },
    );
  };
  return (
    <Form className="form filter-form" onSend={submit}>
      <TextField label={t('viewName')} maxLength={MAX_NAME} value={name} onText={setName} />
      {mayShare && (
        <Check checked={isShared} onTick={setShared}>
          {t('views.share')}
        </Check>
      )}
      <Button isSubmit disabled={name.trim() === '' || create.isPending}>
        {t('saveView')}
      </Button>
    </Form>
  );
}
