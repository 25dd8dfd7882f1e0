import type { Answer, Operation, Params } from '../../contract/operation.ts'
import { courseRoutesWith } from '../courses/courses.ts'
import { lessonRoutes } from '../courses/lessons.ts'
import { termRoutes } from '../courses/terms.ts'
import { gradeRoutes } from '../grades/grades.ts'
import { regradeCourse } from '../grades/regrade.ts'
import { groupRoutes } from '../groups/groups.ts'
import { type Call, type Route, requireElevation, requireRight } from '../http/handler.ts'
import { unconditional } from '../http/precondition.ts'
import { Written } from '../http/reply.ts'
import { integrationRoutes } from '../integrations/integrations.ts'
import { notFound } from '../problem-error.ts'
import { enrollmentRoutes } from '../progress/enrollments.ts'
import { progressRoutes } from '../progress/progress.ts'
import { userRoutes } from '../users/users.ts'

const routes = new Map<Operation, Route>(
  [
    ...courseRoutesWith(regradeCourse),
    ...[lessonRoutes, termRoutes, userRoutes, enrollmentRoutes, groupRoutes, gradeRoutes, progressRoutes],
    ...[integrationRoutes],
  ]
    .flat()
    .map((route) => [route.operation, route]),
)

export interface Input<O extends Operation = Operation> {
  readonly params?: Params<O>
  /** As text, as in a URL. */
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly id?: string
  readonly prepared?: unknown
}

/** Calls an operation with the rights of a call, in its transaction. Throws ProblemError, such as 403. */
export type Perform = <O extends Operation>(operation: O, input?: Input<O>) => Promise<Answer<O>>

export function performer(call: Call): Perform {
  return async <O extends Operation>(operation: O, { params, query, body, id, ...given }: Input<O> = {}) => {
    const route = routes.get(operation)
    if (!route) throw notFound('operation', operation.id)
    const { principal, database } = call
    requireRight(principal, operation)
    const parsed = route.queryOf(`${new URLSearchParams(query)}`)
    requireElevation(operation, principal, parsed)
    const asked: Call = {
      ...call,
      operation,
      params: params ?? {},
      query: parsed,
      rawBody: body,
      preconditions: unconditional,
      newId: (prefix) => (id?.startsWith(`${prefix}_`) ? id : call.newId(prefix)),
    }
    const prepared = 'prepared' in given ? given.prepared : await route.prepare?.(asked)
    const work = async () => {
      const answer = await route.handle({ ...asked, prepared })
      // The compiler checks in `routesOf` that a handler answers what its operation declares.
      return (answer instanceof Written ? JSON.parse(answer.body) : answer) as Answer<O>
    }
    return operation.method === 'GET' ? work() : database.savepoint(work)
  }
}
