import type { Context } from '../command/context.ts'
import { UsageError } from '../terminal/errors.ts'
import { readFileText, readInput } from '../terminal/text-input.ts'

/** Which command lists what a path parameter is the id of. */
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
 * The ids in a file, or on standard input for `-`: one in each line, as `--quiet` prints them. Throws a UsageError that
 * names the line of what is none.
 */
export async function readIds(
  { io }: Pick<Context, 'io'>,
  source: string,
  parameter: string,
): Promise<string[]> {
  // As `--body` takes a file.
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
