import type { ApiError } from '../../client/errors.ts'
import { formatCount } from '../../codec/display-text.ts'
import type { Fault } from '../../contract/errors.ts'
import { fieldPath } from './field-path.ts'
import type { RefusedCallError } from './refused-call.ts'

/** Flags, hint and message of a refusal, from the command line. */
export type SeenFrom = Pick<RefusedCallError, 'flagOf' | 'hint'> & { readonly message?: string }

/** Maximum problems that are printed; a platform may list more. */
const maxProblems = 100
/** Maximum unknown fields that are printed: a body of another kind has nothing but these. */
const maxUnknown = 10

/** Returns the faults of a request: a single one as the message, several counted and listed. */
export function problemsIn(
  { message: detail, faults, problem, status }: ApiError,
  { flagOf, message = detail }: SeenFrom,
): { readonly message: string; readonly why: readonly string[] } {
  const lineOf = (fault: Fault) => problemLine(fault, flagOf(fault))
  if (faults.length > 1) {
    const unknown = faults.filter(isUnknown).slice(maxUnknown)
    const shown = faults.filter((fault) => !unknown.includes(fault)).slice(0, maxProblems)
    const untold = typeof problem?.['moreErrors'] === 'number' ? problem['moreErrors'] : 0
    const more = faults.length - shown.length + untold
    const rest = more > 0 ? [`… and ${formatCount(more)} more`] : []
    const count = formatCount(faults.length + untold)
    return { message: `${count} problems found:`, why: [...shown.map(lineOf), ...rest] }
  }
  const lines = faults.map(lineOf)
  const [fault] = faults
  const wrong = status === 400 || status === 422
  if (wrong && fault && flagOf(fault) !== null && isPhrase(fault)) return { message: lines.join(), why: [] }
  // Without a specific message, the only fault replaces it.
  if (wrong && fault && (message === fault.detail || isGeneric(message)))
    return { message: withoutStop(lines.join()), why: [] }
  return {
    message: withoutStop(message),
    why: fault && !message.includes(fault.detail) && !isUnknown(fault) ? lines : [],
  }
}

function problemLine(fault: Fault, flag: string | null): string {
  const { pointer, parameter, detail } = fault
  const place = flag ?? (pointer === undefined ? parameter : fieldPath(pointer))
  if (!place) return detail
  if (isUnknown(fault)) {
    const [, meant = ''] = detail.split(/(?=; did you mean)/)
    return `Unknown ${parameter === undefined ? 'field' : 'parameter'}: ${place}${meant}`
  }
  // Some platforms begin the message with the field's name, which others omit.
  const leaf =
    fieldPath(pointer ?? parameter ?? '')
      .split('.')
      .at(-1) ?? ''
  if (leaf !== '' && detail.toLowerCase().startsWith(`${leaf.toLowerCase()} `))
    return `${place}${detail.slice(leaf.length)}`
  const goesOn = isPhrase(fault) && (leaf === '' || !detail.toLowerCase().startsWith(leaf.toLowerCase()))
  return goesOn ? `${place} ${detail}` : `${place}: ${detail}`
}

/** True for the standard text of a status, which carries no detail. */
function isGeneric(message: string): boolean {
  return /^(bad request|unprocessable (entity|content)|validation (failed|error)|invalid request)\.?$/i.test(
    message,
  )
}

/** Removes the full stop of a single sentence, as in the program's own messages; several sentences keep theirs. */
function withoutStop(text: string): string {
  return /[.?] \S/.test(text) ? text : text.replace(/\.$/, '')
}

function isUnknown({ code }: Fault): boolean {
  return code === 'unknown_field' || code === 'unknown_parameter'
}

/** True for a detail that continues the name of a field: `must be at most 100`. */
function isPhrase({ detail }: Fault): boolean {
  return /^[a-z]/.test(detail)
}
