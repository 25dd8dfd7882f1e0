import type { Context } from '../command/context.ts'
import { UsageError } from '../terminal/errors.ts'
import { readFileText, readInput } from '../terminal/text-input.ts'

/** Commands that list the ids of a path parameter. */
const listOf: Readonly<Record<string, string>> = {
  courseId: 'courses',
  lessonId: 'lessons',
  userId: 'users',
  learnerId: 'users',
  enrollmentId: 'enrollments',
  keyId: 'keys',
  clientId: 'apps',
  grantId: 'auth grants',
  gradeId: 'grades',
}

/**
 * Reads ids from a file, or from standard input for `-`: one per line, as `--quiet` prints them. Throws a UsageError
 * that names the line of an invalid id.
 */
export async function readIds(
  { io }: Pick<Context, 'io'>,
  source: string,
  parameter: string,
): Promise<string[]> {
  // Accept `@file` like `--body`.
  const path = source.replace(/^@/, '')
  const name = path === '-' ? 'Standard input' : path
  const text = path === '-' ? await readInput(io) : await readFileText(io, path)
  return text.split('\n').flatMap((line, index) => {
    const id = line.trim()
    if (!/^[[{"]|\t/.test(id)) return id === '' ? [] : [id]
    throw new UsageError(`${name}, line ${index + 1}: not an id: ${JSON.stringify(short(id))}`, {
      hint: `Print ids alone: learnctl ${listOf[parameter] ?? '…'} list -q`,
    })
  })
}

function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
