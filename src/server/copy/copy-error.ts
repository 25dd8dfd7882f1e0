/** Reasons why an academy cannot be copied. */
export type CopyTrouble =
  | 'not_empty'
  | 'other_copy'
  | 'copied_elsewhere'
  | 'in_use'
  | 'copy_differs'
  | 'text_refused'

/** Stops a copy; the progress is kept. */
export class CopyError extends Error {
  override readonly name = 'CopyError'
  readonly code: CopyTrouble
  readonly hint: string | undefined

  constructor(code: CopyTrouble, message: string, hint?: string) {
    super(message)
    this.code = code
    this.hint = hint
  }
}
