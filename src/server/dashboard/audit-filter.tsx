import { isDay } from '../../codec/time-text.ts'
import { auditedActions, auditedNouns, nounOf } from '../../contract/actions.ts'
import type { ProblemError } from '../problem/problem-error.ts'
import type { SignedInRequest } from './signed-in-request.ts'

const names = ['user', 'action', 'subject', 'credential', 'from', 'to'] as const
const dayMs = 24 * 60 * 60 * 1000

/** What an address asks the API for; days are whole days of UTC, and an e-mail address needs no prefix. */
export function auditQueryOf(query: URLSearchParams): Readonly<Record<string, string | undefined>> {
  const given = (name: (typeof names)[number]) => query.get(name)?.trim() || undefined
  const user = given('user')
  const action = given('action')
  // Whole nouns stand in the same list as single actions.
  const isNoun = auditedNouns.some((noun) => noun === action)
  return {
    user_id: user?.includes('@') && !user.includes(':') ? `email:${user}` : user,
    [isNoun ? 'noun' : 'action']: action,
    subject_id: given('subject'),
    credential: given('credential'),
    since: startOf(given('from')),
    until: startOf(given('to'), dayMs),
  }
}

/** The beginning of a day, or of one so much later; what is no day, as it is. */
export function startOf(day: string | undefined, later = 0): string | undefined {
  if (day === undefined || !isDay(day)) return day
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + later).toISOString()
}

/** The type of an input for a day. One for days would lose a time of day, which the link to a run has. */
function dayInput(value: string): string {
  return value === '' || isDay(value) ? 'date' : 'text'
}

/** The form that narrows the entries down. */
export function AuditFilter({
  signedIn,
  fault,
}: {
  signedIn: SignedInRequest
  fault: ProblemError | undefined
}) {
  const { query, base, request } = signedIn
  const value = (name: (typeof names)[number]) => query.get(name) ?? ''
  const chosen = value('action')
  const here = base + request.path
  const Input = ({ name, label, type }: { name: (typeof names)[number]; label: string; type?: string }) => (
    <div>
      <label for={name}>{label}</label>
      <input
        id={name}
        name={name}
        type={type ?? 'text'}
        value={value(name)}
        maxlength={300}
        autocomplete="off"
      />
    </div>
  )
  const isFiltered = names.some((name) => value(name) !== '')
  return (
    <search>
      <details class="fold" open={isFiltered || fault !== undefined}>
        <summary>Filter entries</summary>
        <form method="get" action={here} class="narrow-down" aria-label="Filter entries">
          {fault ? (
            <div class="fault" role="alert">
              <p>{fault.message}</p>
            </div>
          ) : null}
          <div>
            <label for="action">Action</label>
            <select id="action" name="action">
              <option value="">All actions</option>
              {auditedNouns.map((noun) => (
                <optgroup label={noun}>
                  <option value={noun} selected={chosen === noun}>{`${noun}: all`}</option>
                  {auditedActions
                    .filter((action) => nounOf(action) === noun)
                    .map((action) => (
                      <option value={action} selected={chosen === action}>
                        {action}
                      </option>
                    ))}
                </optgroup>
              ))}
            </select>
          </div>
          <Input name="user" label="User (e-mail or id)" />
          <Input name="subject" label="Subject ID" />
          <Input name="credential" label="Credential ID" />
          <Input name="from" label="From day (UTC)" type={dayInput(value('from'))} />
          <Input name="to" label="To day (UTC)" type={dayInput(value('to'))} />
          {query.get('fold') === 'off' ? <input type="hidden" name="fold" value="off" /> : null}
          <div class="actions">
            <button type="submit" class="quiet">
              Filter
            </button>
            {isFiltered ? <a href={here}>Clear</a> : null}
          </div>
        </form>
      </details>
    </search>
  )
}
