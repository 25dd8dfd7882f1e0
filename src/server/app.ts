import { type Context, Hono } from 'hono'
import { answer } from './answer.ts'
import type { Route } from './call.ts'
import { type Academy, type Exchange, exchange, gatesOf } from './exchange.ts'
import { ProblemError } from './problem-error.ts'
import type { Reply } from './reply.ts'

/** The API over these routes: `fetch(request) → response`, the one boundary between client and server. */
export function createApp(academy: Academy, routes: readonly Route[]): Hono {
  const gates = gatesOf(academy)
  const app = new Hono()

  const answered = (context: Context, work: (request: Exchange) => Reply | Promise<Reply>) =>
    exchange(academy, gates, context.req.raw, context.env, work)

  for (const route of routes) {
    app.on(route.operation.method, pattern(route.operation.path), (context) =>
      answered(context, (request) => answer(academy, gates, route, request, context.req.param())),
    )
  }
  for (const [path, methods] of methodsByPath(routes)) {
    app.all(pattern(path), (context) =>
      answered(context, () => {
        const allow = (methods.includes('GET') ? ['HEAD', ...methods] : methods).join(', ')
        throw new ProblemError(
          'method_not_allowed',
          `${context.req.method} is not an operation of this path; it takes ${allow}.`,
          { headers: { allow } },
        )
      }),
    )
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

function methodsByPath(routes: readonly Route[]): Map<string, string[]> {
  const methods = new Map<string, string[]>()
  for (const { operation } of routes) {
    methods.set(operation.path, [...(methods.get(operation.path) ?? []), operation.method])
  }
  return methods
}
