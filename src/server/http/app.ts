import { type Context, Hono } from 'hono'
import { ProblemError } from '../problem/problem-error.ts'
import { answer } from './answer.ts'
import { answerEndpoint, type Endpoint } from './endpoint.ts'
import type { Route } from './handler.ts'
import type { Reply } from './reply.ts'
import { type AppOptions, exchange, type RequestContext, rateLimitsOf } from './request-context.ts'

/**
 * The API over these routes, and the endpoints beside it: `fetch(request) → response`, the one boundary between
 * client and server.
 */
export function createApp(
  academy: AppOptions,
  routes: readonly Route[],
  endpoints: readonly Endpoint[] = [],
): Hono {
  const limits = rateLimitsOf(academy)
  const app = new Hono()

  const answered = (
    context: Context,
    work: (request: RequestContext) => Reply | Promise<Reply>,
    refuse?: Endpoint['refuse'],
  ) => exchange(academy, limits, context.req.raw, context.env, work, refuse)

  for (const route of routes) {
    app.on(route.operation.method, pattern(route.operation.path), (context) =>
      answered(context, (request) => answer(academy, limits, route, request, context.req.param())),
    )
  }
  for (const endpoint of endpoints) {
    app.on(endpoint.method, endpoint.path, (context) =>
      answered(
        context,
        (request) => answerEndpoint(academy, limits, endpoint, request, context.req.param()),
        endpoint.refuse,
      ),
    )
  }
  const operations = routes.map(({ operation }) => ({ ...operation, path: pattern(operation.path) }))
  for (const [path, methods] of methodsByPath([...operations, ...endpoints])) {
    const allow = (methods.includes('GET') ? ['HEAD', ...methods] : methods).join(', ')
    const refuse = endpoints.find((endpoint) => endpoint.path === path)?.refuse
    const refused = ({ raw: { method } }: RequestContext) => {
      const detail = `${method} is not an operation of this path; it takes ${allow}.`
      throw new ProblemError('method_not_allowed', detail, { headers: { allow } })
    }
    app.all(path, (context) => answered(context, refused, refuse))
  }
  app.notFound((context) =>
    answered(context, () => {
      throw new ProblemError('not_found', `There is nothing at ${context.req.path}.`)
    }),
  )
  return app
}

function pattern(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

function methodsByPath(places: readonly { method: string; path: string }[]): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { path, method } of places) methods.set(path, [...(methods.get(path) ?? []), method])
  return methods
}
