package websrv

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// What can go wrong on the way to a page. Test with errors.Is.
var (
	errBlocked          = errors.New("address not allowed")
	errBadURL           = errors.New("not a URL that can be fetched")
	errTooLarge         = errors.New("answer too large")
	errTooManyRedirects = errors.New("too many redirects")
	errDNS              = errors.New("host not found")
	errRefused          = errors.New("connection refused")
	errTLS              = errors.New("no secure connection")
	errTimeout          = errors.New("timed out")
	errNetwork          = errors.New("network failure")
	errCut              = fmt.Errorf("answer cut short: %w", errNetwork)
	errEncoding         = errors.New("bad content coding")
	errCooling          = errors.New("host asked to wait")
	errNoBrowser        = errors.New("no Chromium found")
	errBrowser          = errors.New("browser failure")
	errClosed           = errors.New("closed")
)

// netError is a sentence for the model or the user, and the sentinel it stands for.
type netError struct {
	kind error
	text string
}

func (e *netError) Error() string { return e.text }
func (e *netError) Unwrap() error { return e.kind }

func blocked(format string, args ...any) error {
	return &netError{errBlocked, fmt.Sprintf(format, args...)}
}

func badURL(format string, args ...any) error {
	return &netError{errBadURL, fmt.Sprintf(format, args...)}
}

// classify makes a sentence of what the transport said. The transport's own text is not
// passed on: it may hold the whole URL.
func classify(ctx context.Context, host string, err error) error {
	var ours *netError
	if errors.As(err, &ours) {
		return ours
	}
	if ctx.Err() != nil {
		if cause := context.Cause(ctx); errors.As(cause, &ours) {
			return ours
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return &netError{errTimeout, host + " did not answer in time"}
		}
		return fmt.Errorf("request to %s: %w", host, ctx.Err())
	}
	text, kind := kindOf(err)
	return &netError{kind, host + " " + text}
}

func kindOf(err error) (text string, kind error) {
	var (
		dns    *net.DNSError
		cert   *tls.CertificateVerificationError
		record tls.RecordHeaderError
		alert  tls.AlertError
		host   x509.HostnameError
		netErr net.Error
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return "does not exist (its name does not resolve)", errDNS
	case errors.As(err, &dns):
		return "could not be looked up", errDNS
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused the connection", errRefused
	case errors.As(err, &cert), errors.As(err, &host):
		return "has a certificate that is not valid: " + certReason(err), errTLS
	case errors.As(err, &record):
		return "does not speak TLS on this port; try http://", errTLS
	case errors.As(err, &alert), strings.Contains(err.Error(), "tls: "):
		return "and this client found no way to a secure connection", errTLS
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return "did not answer in time", errTimeout
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return "sent headers larger than " + sizeText(maxHeaderBytes), errTooLarge
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "cannot be reached from here", errNetwork
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "closed the connection before the answer was complete", errNetwork
	}
	return "gave no valid HTTP answer", errNetwork
}

// certReason is the reason in the words of crypto/x509, which names hosts and dates only.
func certReason(err error) string {
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		host    x509.HostnameError
	)
	switch {
	case errors.As(err, &host):
		return "it belongs to another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it has expired or is not valid yet"
	case errors.As(err, &unknown):
		return "its issuer is unknown"
	}
	return "it was refused"
}

// isConnError reports whether err comes from the connection or its context rather than
// from the bytes it carried.
func isConnError(err error) bool {
	var netErr net.Error
	return errors.As(err, &netErr) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, net.ErrClosed)
}
