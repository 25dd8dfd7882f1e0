import type { Child, JSX } from 'hono/jsx'
import { runOnce } from '../http/idempotency.ts'
import type { Reply } from '../http/reply.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem/problem-error.ts'
import { type SignedInRequest, writeFor } from './signed-in-request.ts'

/** A form as somebody filled it in, or as it is before anybody has, and what was wrong with it. */
export interface FilledIn {
  readonly signedIn: SignedInRequest
  readonly form: URLSearchParams
  readonly fault: ProblemError | undefined
}

/** A form of the dashboard: it goes back to the page that it stands on. */
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

/** What marks a form as one of its own, so that sending it again does nothing again. */
export function OnceField({ signedIn }: { signedIn: SignedInRequest }) {
  return <input type="hidden" name="once" value={signedIn.academy.newId('req')} />
}

/**
 * Does what a form asks for in one transaction. When the same form comes again, as it does when its answer is loaded
 * anew, it leads to `again` instead.
 */
export function doneOnce(
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

/** What was wrong with a form, each fault with the label of its field and a link to it. */
export function Faults({
  fault,
  labels,
}: {
  fault: ProblemError | undefined
  /** The fields by name; a field's id is its name. */
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

/** How a field of a form differs from a plain input: what else is given goes to the input. */
type FieldProps = JSX.IntrinsicElements['input'] & {
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly fault: ProblemError | undefined
}

/** An input with its label, and a hint where there is one. */
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

/** True where a fault is about this field: for `aria-invalid`. */
export function isFaulty(fault: ProblemError | undefined, name: string): true | undefined {
  return fault?.errors?.some(({ pointer }) => pointer?.split('/')[1] === name) || undefined
}
