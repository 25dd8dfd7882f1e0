import type { ErrorCode } from './errors.ts'
import made from './openapi-examples.json' with { type: 'json' }

/** One call of an operation, as the program made it in an academy with a part of the example data. */
export interface OperationExample {
  /** What was sent for each parameter of the path and the query. */
  readonly parameters: Readonly<Record<string, string>>
  readonly body?: unknown
  /** What was answered; absent where a success has no body. */
  readonly response?: unknown
  /** What was answered in other forms than JSON, by media type. */
  readonly media?: Readonly<Record<string, string>>
}

interface Made {
  readonly operations: Readonly<Record<string, OperationExample>>
  readonly problems: Readonly<Partial<Record<ErrorCode, unknown>>>
}

const { operations, problems }: Made = made

/** The example of each operation, by its id: made by test/contract/document-examples.ts. */
export const operationExamples = operations
/** The body of a refusal with each code. */
export const problemExamples = problems
