import { type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';

interface Props {
  /** What the button shows. */
  readonly label: ReactNode;
  /** The button's name where `label` is an icon. */
  readonly name?: string | undefined;
  readonly className?: string;
  readonly children: (close: () => void) => ReactNode;
  readonly isDisabled?: boolean;
  /** Open when it appears: the user has just asked for it. */
  readonly opensAtOnce?: boolean;
}

const GAP = 4;
const MARGIN = 8;

/**
 * A button that opens a panel beside it. The browser's popover closes it by Escape or a click elsewhere and returns the
 * focus; what is in it are ordinary controls.
 */
export function Popup({ label, name, className = 'button', children, isDisabled = false, opensAtOnce = false }: Props) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  useLayoutEffect(() => {
    if (isOpen && button.current !== null && panel.current !== null) place(panel.current, button.current);
  });
  useEffect(() => {
    if (opensAtOnce) panel.current?.showPopover({ source: button.current! });
    // Only when it appears.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={name}
        aria-expanded={isOpen}
        aria-controls={id}
        disabled={isDisabled}
        popoverTarget={id}
      >
        {label}
      </button>
      <div
        ref={panel}
        id={id}
        popover="auto"
        className="popup"
        role="group"
        aria-label={name ?? (typeof label === 'string' ? label : undefined)}
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        {isOpen && children(() => panel.current?.hidePopover())}
      </div>
    </>
  );
}

/** Under the button, or above it where there is more room, and within the window. */
function place(panel: HTMLElement, button: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = panel;
  const below = innerHeight - at.bottom - GAP - MARGIN;
  const top = height <= below || below >= at.top ? at.bottom + GAP : at.top - GAP - height;
  const left = Math.min(at.left, innerWidth - width - MARGIN);
  panel.style.top = `${Math.max(MARGIN, top)}px`;
  panel.style.left = `${Math.max(MARGIN, left)}px`;
}
