import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, send } from '../../../api/client.ts';
import { useMay, useSession } from '../../../session/session.ts';
import { done, failed, useAction } from '../../../widgets/actions.tsx';
import { Button, Check, Form, TextField, PopupItem } from '../../../widgets/controls.tsx';
import { Dialog, DialogActions } from '../../../widgets/dialog.tsx';
import { Table } from '../../../widgets/list.tsx';
import { usePersonName } from '../../../widgets/people.ts';
import { callsTexts } from '../../texts.ts';
import { callSearch, type CallSearch } from '../call-search.ts';
import { useNewView, type View, VIEWS } from './views.tsx';

const MAX_NAME = 255;

interface Props {
  readonly views: readonly View[];
  readonly open: View | undefined;
  readonly search: CallSearch;
  readonly onOpen: (search: CallSearch) => void;
  readonly onManage: () => void;
}

/** The views to open, and a form that saves the present filters as another. */
export function ViewChoice({ views, open, search, onOpen, onManage }: Props) {
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
            onClick={() => onOpen(callSearch(view.query))}
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
  const create = useNewView();
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

type Ticked = { uuid: string } & Partial<Pick<View, 'shared' | 'start_page'>>;

/** Who sees a view, which one opens first, its link, and an end to it. */
export function ViewsDialog({ views, onClose }: { views: readonly View[]; onClose: () => void }) {
  const t = callsTexts.use();
  const nameOf = usePersonName();
  const { userUuid, role } = useSession();
  const path = (uuid: string) => ({ params: { path: { uuid } } });
  const change = useAction(
    ({ uuid, ...body }: Ticked) => send(api.PATCH('/api/v1/views/{uuid}', { ...path(uuid), body })),
    { changes: [VIEWS] },
  );
  const remove = useAction((uuid: string) => send(api.DELETE('/api/v1/views/{uuid}', path(uuid))), {
    changes: [VIEWS],
  });
  const mayShare = useMay('process');
  /** What was ticked is shown at once, until it is saved. State of its own: `change.isPending` is a moment late. */
  const [ticked, setTicked] = useState<Ticked | null>(null);
  const save = (given: Ticked) => {
    setTicked(given);
    change.mutate(given, { onSettled: () => setTicked(null) });
  };
  const shown = (view: View): View => (ticked?.uuid === view.uuid ? { ...view, ...ticked } : view);
  const mayChange = ({ by }: View) => by === userUuid || role === 'ADMIN';
  const copyLink = async ({ uuid }: View) => {
    try {
      await navigator.clipboard.writeText(new URL(`views/${uuid}`, document.baseURI).href);
      done(t('views.linkCopied'));
    } catch (error) {
      failed(error);
    }
  };
  const box = (view: View, field: 'start_page' | 'shared', label: string, isFixed = false) => (
    <input
      type="checkbox"
      aria-label={label}
      checked={view[field]}
      disabled={isFixed || !mayChange(view) || ticked !== null}
      onChange={({ target }) => save({ uuid: view.uuid, [field]: target.checked })}
    />
  );
  return (
    <Dialog title={t('views.manage')} isWide onClose={onClose}>
      <p className="muted">{t('views.about')}</p>
      <Table
        label={t('views')}
        items={views.map(shown)}
        keyOf={({ uuid }) => uuid}
        columns={({ name, text, plain, actions }) => [
          name(t('viewName'), (view) => (
            <Link to="/calls" search={callSearch(view.query)} onClick={onClose}>
              {view.name}
            </Link>
          )),
          text(t('views.owner'), ({ by }) => nameOf(by)),
          plain(t('views.startPage'), (view) => box(view, 'start_page', t('views.startPageOf', { name: view.name }))),
          plain(t('views.shared'), (view) => box(view, 'shared', t('views.sharedOf', { name: view.name }), !mayShare)),
          actions(
            t('views.actions'),
            (view) => (
              <>
                <Button icon="copy" isSmall onClick={() => void copyLink(view)}>
                  {t('views.copyLink')}
                </Button>
                {mayChange(view) && (
                  <Button
                    icon="trash"
                    kind="quiet"
                    isSmall
                    label={t('deleteView', { name: view.name })}
                    disabled={remove.isPending}
                    onClick={() => remove.mutate(view.uuid)}
                  />
                )}
              </>
            ),
            { className: 'views-actions' },
          ),
        ]}
      />
      <DialogActions onClose={onClose} />
    </Dialog>
  );
}
