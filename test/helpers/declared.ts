import { openapiOf } from '../../src/contract/openapi.ts'

type Described = Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>
interface Response {
  readonly $ref?: string
  readonly content?: { readonly 'application/problem+json': { readonly examples: object } }
}

let table: { pattern: RegExp; methods: Described }[] | undefined
let components: Readonly<Record<string, Response>> = {}

function declarations() {
  if (table) return table
  const document = openapiOf()
  // What openapiOf() makes of the contract.
  const paths = document['paths'] as Readonly<Record<string, Described>>
  components = (document['components'] as { responses: Readonly<Record<string, Response>> }).responses
  table = Object.entries(paths).map(([path, methods]) => ({
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
    methods,
  }))
  return table
}

/**
 * Throws where an operation answered with a status, or refused with a code, that the OpenAPI document does not tell:
 * whatever a test provokes, clients may meet.
 */
export function requireDeclared(method: string, path: string, status: number, code: unknown): void {
  // What a path does not support is no answer of an operation.
  if (status === 405 || method === 'OPTIONS') return
  const places = declarations().filter(({ pattern }) => pattern.test(path.split('?', 1)[0] ?? ''))
  const verb = { HEAD: 'get', PATCH: 'put' }[method] ?? method.toLowerCase()
  const responses = places.find(({ methods }) => methods[verb])?.methods[verb]?.responses
  if (!responses) return
  const told = responses[status]
  // A condition on what takes none, which the document does not offer.
  if (status === 412 && !told) return
  const response = told?.$ref === undefined ? told : components[told.$ref.split('/').at(-1) ?? '']
  const codes = response?.content?.['application/problem+json']?.examples ?? {}
  if (!response || (typeof code === 'string' && status >= 400 && !(code in codes))) {
    throw new Error(
      `${method} ${path} answered ${status} ${code ?? ''}, which its description does not tell (src/contract/words/problems.ts)`,
    )
  }
}
