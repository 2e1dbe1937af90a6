/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENT_HANDLERS_SCSI_H
#define EVENT_HANDLERS_SCSI_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends what a SCSI command descriptor block asks for: "lba=… txlen=… protect=…". */
void scsi_print_cdb(const uint8_t *cdb, size_t size, struct buf *out);

#endif
