import { type Call, calls } from '../../contract/calls.ts'
import type { HttpRequest } from '../../contract/http.ts'

export interface FoundCall {
  readonly operation: Call
  /** `course`, or `learner` for the rows of the learner export. */
  readonly noun: string
  /** Address of the platform, without the path of the operation. */
  readonly base: string
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
}

/** Groups whose answers are no records of a platform. */
const plainGroups: ReadonlySet<string> = new Set(['service', 'oauth'])

const patterns = Object.entries(calls)
  .filter(([group]) => !plainGroups.has(group))
  .flatMap(([, operations]) =>
    Object.values<Call>(operations).map((operation) => ({
      operation,
      noun: kindOf(operation.id),
      pattern: new RegExp(`^(.*)${operation.path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
    })),
  )

/** `course`, or `learner` for those of analytics. */
export function kindOf(id: string): string {
  const [group = ''] = id.split('.')
  return group === 'analytics' ? 'learner' : group.replace(/(?<!s)s$/, '')
}

/** Null for any request that calls no operation. */
export function findCall({ method, url }: HttpRequest): FoundCall | null {
  const { origin, pathname, searchParams } = new URL(url)
  for (const { operation, noun, pattern } of patterns) {
    const match = operation.method === method ? pattern.exec(pathname) : null
    if (!match) continue
    const params = Object.entries(match.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)])
    const base = origin + (match[1] ?? '')
    return { operation, noun, base, params: Object.fromEntries(params), query: searchParams }
  }
  return null
}
