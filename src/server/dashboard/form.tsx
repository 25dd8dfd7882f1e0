import type { Child, JSX } from 'hono/jsx'
import { runOnce } from '../http/idempotency.ts'
import type { Reply } from '../http/reply.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem-error.ts'
import { type SignedInRequest, writeFor } from './call-api.ts'
import { addressOf, framePage, type Section } from './frame.tsx'

/** `fault` is that of its last submission. */
export interface FilledIn {
  readonly signedIn: SignedInRequest
  readonly form: URLSearchParams
  readonly fault: ProblemError | undefined
}

/** Posted to the page it is on. */
export function Form({
  signedIn,
  label,
  children,
}: {
  signedIn: SignedInRequest
  label: string
  children: Child
}) {
  return (
    <form method="post" action={signedIn.base + signedIn.request.path} aria-label={label}>
      <input type="hidden" name="csrf" value={signedIn.visitor.csrf} />
      {children}
    </form>
  )
}

/** For `submitOnce`. */
export function OnceField({ signedIn }: { signedIn: SignedInRequest }) {
  return <input type="hidden" name="once" value={signedIn.academy.newId('req')} />
}

/** In one transaction. A repeated form, such as by a reload of its response, redirects to `again`. */
export function submitOnce(
  signedIn: SignedInRequest,
  form: URLSearchParams,
  again: string,
  work: (signedIn: SignedInRequest) => Promise<Reply>,
): Promise<Reply> {
  const key = form.get('once') ?? ''
  if (!/^req_[0-9a-z]{29}$/.test(key)) {
    throw new ProblemError('invalid_parameter', 'The form is incomplete; reload the page and submit again.')
  }
  const { request, user } = signedIn
  const { path, now } = request
  const sent = { userId: user.id, method: 'POST', path, key, bytes: new Uint8Array(), now }
  return writeFor(signedIn, (inside) =>
    runOnce(
      inside.database,
      sent,
      () => work(inside),
      () => seeOther(again),
    ),
  )
}

export function Faults({
  fault,
  labels,
}: {
  fault: ProblemError | undefined
  /** By name of the field, which is also its id. */
  labels: Readonly<Record<string, string>>
}) {
  if (!fault) return null
  const faults = (fault.errors ?? []).map(({ pointer, detail }) => {
    const [, name = '', index] = pointer?.split('/') ?? []
    const line = index === undefined ? '' : `, line ${Number(index) + 1},`
    return { name, label: `${labels[name] ?? name}${line}`, detail }
  })
  return (
    <div class="fault" role="alert">
      {faults.length === 0 ? <p>{fault.message}</p> : <p>Fix the following:</p>}
      {faults.length === 0 ? null : (
        <ul>
          {faults.map(({ name, label, detail }) => (
            <li>
              <a href={`#${name}`}>{label}</a> {detail}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

type FieldProps = JSX.IntrinsicElements['input'] & {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly fault: ProblemError | undefined
}

export function Field({ name, label, hint, fault, ...others }: FieldProps) {
  const hintId = hint && `${name}-hint`
  return (
    <>
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        {...others}
        aria-describedby={hintId}
        aria-invalid={isFaulty(fault, name)}
      />
      {hint ? (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      ) : null}
    </>
  )
}

/** `meaning` stands below the words. */
export function Choice({
  words,
  meaning,
  ...input
}: JSX.IntrinsicElements['input'] & { readonly words: Child; readonly meaning?: string }) {
  return (
    <label class="choice">
      <input {...input} />
      <span>
        {meaning === undefined ? (
          words
        ) : (
          <>
            <strong>{words}</strong>
            <small>{meaning}</small>
          </>
        )}
      </span>
    </label>
  )
}

/** For `aria-invalid`. */
export function isFaulty(fault: ProblemError | undefined, name: string): true | undefined {
  return fault?.errors?.some(({ pointer }) => pointer?.split('/')[1] === name) || undefined
}

/** Before something is deleted or revoked; works without scripts. */
export function askToConfirm(
  signedIn: SignedInRequest,
  {
    title,
    section,
    button,
    cancel = section,
    once = false,
  }: {
    title: string
    section: Section
    button: string
    /** Page to return to; default: the section's. */
    cancel?: `/dashboard${string}`
    /** The action is not idempotent. */
    once?: boolean
  },
  question: Child,
): Reply {
  return framePage(
    signedIn,
    { title, section },
    <div class="card short">
      <h1>{title}</h1>
      {question}
      <Form signedIn={signedIn} label={title}>
        {once ? <OnceField signedIn={signedIn} /> : null}
        <div class="actions">
          <button type="submit" class="danger">
            {button}
          </button>
          <a class="button" href={addressOf(signedIn, cancel)}>
            Cancel
          </a>
        </div>
      </Form>
    </div>,
  )
}
