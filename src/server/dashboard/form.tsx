import type { Child } from 'hono/jsx'
import type { Operation } from '../../contract/operation.ts'
import { requireRight } from '../http/handler.ts'
import { runOnce } from '../http/idempotency.ts'
import type { Reply } from '../http/reply.ts'
import { seeOther } from '../pages/page.tsx'
import { ProblemError } from '../problem-error.ts'
import { ask, type SignedInRequest, type WritingRequest, writeFor } from './call-api.ts'
import type { DashboardPage } from './dashboard-page.ts'
import { addressOf, framePage, goTo, type NoteName, type Section } from './frame.tsx'
import { factList, type ListedFacts } from './values.tsx'

export function postForm(
  { base, request, visitor }: SignedInRequest,
  label: string,
  ...content: readonly Child[]
): Child {
  return (
    <form method="post" action={base + request.path} aria-label={label}>
      <input type="hidden" name="csrf" value={visitor.csrf} />
      {content}
    </form>
  )
}

export function onceField({ academy }: SignedInRequest): Child {
  return <input type="hidden" name="once" value={academy.newId('req')} />
}

/** A repeated form, such as by a reload of its response, redirects to `again`. */
export function submitOnce(
  signedIn: SignedInRequest,
  form: URLSearchParams,
  again: string,
  work: (signedIn: WritingRequest) => Promise<Reply>,
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

/** `labels` are by name of the field, which is also its id. */
export function faultList(
  fault: ProblemError | undefined,
  labels: Readonly<Record<string, string>> = {},
): Child {
  if (!fault?.errors?.length) return faultText(fault)
  const faults = fault.errors.map(({ pointer, detail }) => {
    const [, ...steps] = pointer?.split('/') ?? []
    // `/chat/digestHour` is the field `digestHour`.
    const at = Math.max(
      0,
      steps.findIndex((step) => Object.hasOwn(labels, step)),
    )
    const [name = '', index] = steps.slice(at)
    const line = /^\d+$/.test(index ?? '') ? `, line ${Number(index) + 1},` : ''
    return { name, label: `${labels[name] ?? name}${line}`, detail }
  })
  return (
    <div class="fault" role="alert">
      <p>Fix the following:</p>
      <ul>
        {faults.map(({ name, label, detail }) => (
          <li>
            <a href={`#${name}`}>{label}</a> {detail}
          </li>
        ))}
      </ul>
    </div>
  )
}

export function faultText(fault: ProblemError | undefined): Child {
  if (!fault) return null
  return (
    <div class="fault" role="alert">
      <p>{fault.message}</p>
    </div>
  )
}

export function isFaulty(fault: ProblemError | undefined, name: string): true | undefined {
  return fault?.errors?.some(({ pointer }) => pointer?.split('/').slice(1).includes(name)) || undefined
}

interface Confirmation<Item> {
  readonly path: DashboardPage['path']
  readonly section: Section
  /** Without `act`, it is also what the form does. */
  readonly operation?: Operation
  /** Throws 404. */
  readonly find: (signedIn: SignedInRequest) => Promise<Item>
  readonly title: (item: Item) => string
  readonly question: (item: Item) => Child
  readonly button: string
  /** Page to return to; default: the section's. */
  readonly cancel?: (signedIn: SignedInRequest) => `/dashboard${string}`
  readonly act?: (signedIn: WritingRequest) => Promise<unknown>
  /** Page after it, with this note; default: the section's. */
  readonly next?: `/dashboard${string}`
  readonly done: NoteName
  /** It cannot be repeated: `shown` has the reply, a repeated form returns to `cancel` with the note. */
  readonly shown?: (signedIn: WritingRequest) => Promise<Reply>
}

/** Works without scripts. */
export function confirmationPage<Item>({
  path,
  section,
  operation,
  find,
  title,
  question,
  button,
  cancel = () => section,
  act = (inside) => ask(inside, operation as Operation),
  next = section,
  done,
  shown,
}: Confirmation<Item>): DashboardPage {
  return {
    path,

    async show(signedIn) {
      if (operation) requireRight(signedIn.principal, operation)
      const item = await find(signedIn)
      return framePage(
        signedIn,
        { title: title(item), section, heading: null },
        <div class="card short">
          <h1>{title(item)}</h1>
          <p>{question(item)}</p>
          {postForm(
            signedIn,
            title(item),
            shown ? onceField(signedIn) : null,
            <div class="actions">
              <button type="submit" class="danger">
                {button}
              </button>
              <a class="button" href={addressOf(signedIn, cancel(signedIn))}>
                Cancel
              </a>
            </div>,
          )}
        </div>,
      )
    },

    async act(signedIn, form) {
      if (shown) return submitOnce(signedIn, form, addressOf(signedIn, cancel(signedIn), done), shown)
      await writeFor(signedIn, act)
      return goTo(signedIn, next, done)
    },
  }
}

/** The only page that shows a secret. */
export function secretPage(
  signedIn: SignedInRequest,
  {
    title,
    heading = title,
    section,
    name,
    secret,
    facts = [],
    next,
  }: {
    title: string
    heading?: string
    section: Section
    name: string
    secret: Child
    facts?: ListedFacts
    next: `/dashboard${string}`
  },
  children?: Child,
): Reply {
  return framePage(
    signedIn,
    { title, section, heading: null },
    <div class="card short">
      <h1>{heading}</h1>
      {secret === null ? null : (
        <>
          <p role="status">{`Copy the ${name} now. It will not be shown again.`}</p>
          <code class="code secret">{secret}</code>
        </>
      )}
      {children}
      {facts.length === 0 ? null : factList(facts)}
      <p class="actions">
        <a class="button" href={addressOf(signedIn, next)}>
          Done
        </a>
      </p>
    </div>,
  )
}
