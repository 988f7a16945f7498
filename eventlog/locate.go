package eventlog

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"
)

// probe returns the first message of a subject at or after a sequence of the stream. It returns
// jetstream.ErrMsgNotFound if no message matches.
func probe(ctx context.Context, stream jetstream.Stream, subject string, seq uint64) (uint64, header, error) {
	msg, err := stream.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(subject))
	if err != nil {
		return 0, header{}, err
	}
	h, _, err := decodePart(msg.Data)
	return msg.Sequence, h, err
}

// locate returns a sequence of the stream from which on the messages of a subject satisfy after, and before which they do
// not. after must be monotonic. It is a binary search, of about 20 reads for a million messages. It starts at the
// subject's first message: the server reads the block of the requested sequence, even if that contains only other
// subjects, and such a block may not be checked yet.
func locate(ctx context.Context, stream jetstream.Stream, subject string, after func(*header) bool) (uint64, error) {
	last, err := stream.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 1, nil
	}
	if err != nil {
		return 0, err
	}
	low, middle, high := uint64(1), uint64(1), last.Sequence+1
	for ; low < high; middle = low + (high-low)/2 {
		seq, h, err := probe(ctx, stream, subject, middle)
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound):
			high = middle // deleted meanwhile
		case err != nil:
			return 0, err
		case after(&h):
			high = middle
		default:
			low = seq + 1
		}
	}
	return low, nil
}

// locateEvent returns the position to start reading for the event seq: the record that contains it,
// or the next one. An unfinished record has the same first event as its replacement, so only that
// number is monotonic.
func (l *Log) locateEvent(ctx context.Context, seq uint64) (uint64, error) {
	stream, subject := l.store.st.log, l.subject()
	var before header // the last message that starts at or before seq
	_, err := locate(ctx, stream, subject, func(h *header) bool {
		if h.first > seq {
			return true
		}
		before = *h
		return false
	})
	if err != nil || before.first == 0 {
		return 1, err
	}
	return locate(ctx, stream, subject, func(h *header) bool { return h.first >= before.first })
}
