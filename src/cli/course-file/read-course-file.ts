import { problemsIn, readPlacedDocument, refusedDocument } from '../operation/placed-document.ts'
import type { Io } from '../terminal/io.ts'
import { CourseDocument } from './course-document.ts'
import { type CourseRecords, recordsOf } from './course-records.ts'

/**
 * Reads the records of a course file, YAML or JSON; `-` is standard input. Throws a UsageError with every problem of
 * the file and its line.
 */
export async function readCourseFile(io: Io, path: string): Promise<CourseRecords> {
  const document = await readPlacedDocument(io, path)
  const parsed = CourseDocument.safeParse(document.value, { reportInput: true })
  if (!parsed.success) throw refusedDocument(document, problemsIn(parsed.error))
  return recordsOf(parsed.data)
}
