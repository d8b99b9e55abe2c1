import { type ReactNode, useState } from 'react';
import { failed } from '../../widgets/actions.tsx';
import { Button } from '../../widgets/controls.tsx';
import { Dialog } from '../../widgets/dialog.tsx';
import { settingsTexts } from '../texts.ts';

interface PartProps {
  readonly about: string;
  /** The name of the button that makes one more. */
  readonly create: string;
  readonly onCreate: () => void;
  readonly children: ReactNode;
}

/** A part of the settings that lists things, and makes one more. */
export function Part({ about, create, onCreate, children }: PartProps) {
  return (
    <section className="stack">
      <div className="row">
        <p className="muted grow">{about}</p>
        <Button icon="plus" kind="primary" onClick={onCreate}>
          {create}
        </Button>
      </div>
      {children}
    </section>
  );
}

export interface Action {
  readonly name: string;
  readonly act: () => void;
  /** It destroys something. */
  readonly isDanger?: boolean;
  readonly isPending?: boolean;
}

interface ActionsProps {
  readonly of: readonly (Action | false)[];
  /** After them. */
  readonly children?: ReactNode;
}

/** What can be done with one of several things. */
export function Actions({ of, children }: ActionsProps) {
  return (
    <div className="row">
      {of
        .filter((each) => each !== false)
        .map(({ name, act, isDanger = false, isPending = false }) => (
          <Button key={name} kind={isDanger ? 'danger' : undefined} isSmall disabled={isPending} onClick={act}>
            {name}
          </Button>
        ))}
      {children}
    </div>
  );
}

interface ItemProps {
  readonly name: string;
  readonly isEnabled: boolean;
  /** What it is, in a few words each. */
  readonly facts: readonly string[];
  /** Between its name and its facts. */
  readonly notes?: ReactNode;
  /** What can be done with it, and what follows. */
  readonly children: ReactNode;
}

/** Something that can be switched off. */
export function Item({ name, isEnabled, facts, notes, children }: ItemProps) {
  const t = settingsTexts.use();
  return (
    <article className="card card-body stack" aria-label={name}>
      <div className="row">
        <h2 className="foreign grow">{name}</h2>
        <span className={isEnabled ? 'badge badge-good' : 'badge badge-warn'}>
          {t(isEnabled ? 'hooks.on' : 'hooks.off')}
        </span>
      </div>
      {notes}
      <p className="row">
        {facts.map((fact) => (
          <span key={fact} className="badge foreign">
            {fact}
          </span>
        ))}
      </p>
      {children}
    </article>
  );
}

interface SecretProps {
  readonly title: string;
  /** What it is. */
  readonly name: string;
  readonly text: string;
  readonly about?: string;
  readonly onClose: () => void;
}

/** Shows a secret, once. */
export function SecretDialog({ title, name, text, about, onClose }: SecretProps) {
  const t = settingsTexts.use();
  const [isCopied, setCopied] = useState(false);
  return (
    <Dialog title={title} onClose={onClose}>
      {about !== undefined && <p>{about}</p>}
      <p>{t('secret.once')}</p>
      <div className="row settings-secret">
        <code aria-label={name} role="textbox" aria-readonly="true" tabIndex={0} className="foreign">
          {text}
        </code>
        <Button
          icon={isCopied ? 'check' : 'copy'}
          onClick={() => navigator.clipboard.writeText(text).then(() => setCopied(true), failed)}
        >
          <span aria-live="polite">{isCopied ? t('secret.copied') : t('secret.copy')}</span>
        </Button>
      </div>
      <div className="dialog-actions">
        <Button kind="primary" onClick={onClose}>
          {t('secret.kept')}
        </Button>
      </div>
    </Dialog>
  );
}
