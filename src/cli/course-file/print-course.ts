import { calls } from '../../contract/calls.ts'
import type { Context } from '../command/context.ts'
import { showRequest } from '../operation/dry-run.ts'
import { UsageError } from '../terminal/errors.ts'
import { documentOf } from './course-records.ts'
import { noteHiddenAnswers, readShownCourse, shownRecords } from './shown-course.ts'

/** Prints a course with all its lessons as the document that `courses apply` reads. */
export async function printCourse(context: Context, reference: string): Promise<void> {
  const { io, session, settings, output } = context
  if (!['json', 'jsonl', 'yaml'].includes(settings.output.value)) {
    throw new UsageError('--with-lessons requires -o yaml or -o json', {
      hint: `learnctl courses get ${reference} --with-lessons -o yaml`,
    })
  }
  const caller = await session.caller()
  if (settings.dryRun.value) {
    return showRequest(context, caller.request(calls.courses.get, { params: { courseId: reference } }))
  }
  const shown = await readShownCourse(caller, reference, io.signal)
  await noteHiddenAnswers(output, shown.lessons)
  await output.document(documentOf(await shownRecords(shown)))
}
